import { Deployments } from '../../cluster/kinds/apps.ts'
import { Nodes } from '../../cluster/kinds/core.ts'
import { componentDeployment } from './components.ts'
import { rollHandler } from './handler-rollout.ts'
import { ensure } from './managed.ts'
import type { OperatorContext, Pass } from './operator-context.ts'
import { isRolled } from './readiness.ts'
import { disruptionBudget } from './support-objects.ts'
import { isAtLeast, versionOrder } from './version-order.ts'

/** `changed`: written in this pass. `rolling`: its pods are not through. */
export type Standing = 'changed' | 'rolling' | 'rolled'

const extras = ['virt-exportproxy', 'virt-template-apiserver', 'virt-template-controller'] as const

/** The Deployments that a release has by itself, beside virt-controller and virt-api (lab "Seen" 6). */
export function extraComponents(cx: OperatorContext, pass: Pass): string[] {
  const { unknownComponent: unknown } = cx.faults.on
  const isThere = unknown !== undefined && isAtLeast(pass.config.kubeVirtVersion, unknown.since)
  return [...knownExtras(pass), ...(isThere ? [unknown.name] : [])]
}

function knownExtras({ kubevirt, config }: Pass): string[] {
  if (isAtLeast(config.kubeVirtVersion, 9)) return [...extras]
  const developer = kubevirt.spec?.configuration?.['developerConfiguration'] as
    | { featureGates?: string[] }
    | undefined
  return developer?.featureGates?.includes('VMExport') === true ? ['virt-exportproxy'] : []
}

/** In which order operands change, and which of them are waited for before the next: facts 2.5 step 11. */
function operandOrder(cx: OperatorContext, pass: Pass): { name: string; waits: boolean }[] {
  const { observedDeploymentID, observedKubeVirtVersion = '' } = pass.kubevirt.status ?? {}
  const extra = extraComponents(cx, pass)
  const back = ['virt-api', 'virt-controller', ...extra, 'virt-handler']
  if (observedDeploymentID === pass.config.id) return back.map((name) => ({ name, waits: false }))
  const newer =
    observedDeploymentID !== undefined &&
    (versionOrder(pass.config.kubeVirtVersion, observedKubeVirtVersion) ?? 1) > 0
  if (newer)
    return ['virt-handler', 'virt-controller', ...extra, 'virt-api'].map((name) => ({ name, waits: true }))
  return back.map((name) => ({ name, waits: name === 'virt-api' }))
}

/** Brings the operands on. True when nothing was left to write and everything is through. */
export async function syncOperands(cx: OperatorContext, pass: Pass): Promise<boolean> {
  let through = true
  for (const { name, waits } of operandOrder(cx, pass)) {
    const standing =
      name === 'virt-handler' ? await rollHandler(cx, pass) : await rollDeployment(cx, pass, name)
    through &&= standing === 'rolled'
    if (waits && standing !== 'rolled') return false
  }
  return through
}

async function rollDeployment(cx: OperatorContext, pass: Pass, name: string): Promise<Standing> {
  const replicas = await replicasOf(cx, pass, name)
  const wanted = componentDeployment(pass.config, name, replicas)
  const written = await ensure(cx, pass, { kind: Deployments, object: wanted })
  if (replicas > 1) await ensure(cx, pass, disruptionBudget(pass.config.namespace, name, replicas))
  if (written) return 'changed'
  const found = await cx.reader.find(Deployments, wanted.metadata)
  return found.is === 'object' && (await isRolled(cx, pass, found.object)) ? 'rolled' : 'rolling'
}

/** facts 2.10. */
async function replicasOf(cx: OperatorContext, { kubevirt }: Pass, name: string): Promise<number> {
  const asked = kubevirt.spec?.infra?.replicas
  if (asked !== undefined) return asked
  const nodes = await cx.reader.list(Nodes)
  if (nodes.length === 1) return 1
  return name === 'virt-api' ? Math.max(2, Math.floor(nodes.length / 10)) : 2
}
