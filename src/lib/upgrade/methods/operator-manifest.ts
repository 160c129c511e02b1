import type { Step } from '../../procedure/step.ts'
import type { UpgradePlan } from '../plan.ts'
import { applyManifest, type ReleaseManifest } from '../steps/apply-manifest.ts'
import { liftImageTag } from '../steps/lift-image-tag.ts'
import { operatorRolled } from '../steps/operator-rolled.ts'
import { setImageTag } from '../steps/set-image-tag.ts'
import { settledAtOldVersion } from '../steps/settled.ts'

/** The release's kubevirt-operator.yaml; a tag that is set is treated by night U2. */
export function operatorManifestSteps(
  plan: UpgradePlan,
  manifest: ReleaseManifest,
  who: string,
): readonly Step[] {
  const { owner, tag, to } = plan
  const replace = [applyManifest(manifest), operatorRolled(owner, to.text)]
  if (tag.is === 'lift') return [liftImageTag(owner, { to: to.text, who }), ...replace]
  if (tag.is === 'pin')
    return [
      ...replace,
      settledAtOldVersion(owner, { version: tag.tag, settleMs: plan.request.settleMs }),
      setImageTag(owner, {
        from: tag.tag,
        tag: to.text,
        registry: plan.request.imageRegistry,
        operator: to.text,
      }),
    ]
  return replace
}
