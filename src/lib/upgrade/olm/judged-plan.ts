import type { Reader } from '../../cluster/cluster.ts'
import type { InstallPlan } from '../../cluster/kinds/operator-lifecycle.ts'
import type { StepState } from '../../procedure/step.ts'
import { againstPlatform } from '../../releases/operator-and-platform.ts'
import { versionOfCsv } from '../../releases/operator-version.ts'
import { judgeInstallPlan, type PlanVerdict, type WrongPlan } from './judge-install-plan.ts'
import type { HopTools, OperatorHop } from './operator-hop-types.ts'
import type { OperatorScene } from './operator-scene.ts'
import { remedyFor } from './plan-remedies.ts'
import { type PlatformNow, platformNow } from './platform-now.ts'

export interface Judged {
  verdict: PlanVerdict
  /** Where it is wrong: what to say of it. */
  blocked?: Extract<StepState, { is: 'blocked' }> & { reason: WrongPlan; remedy: readonly string[] }
}

interface Question {
  scene: Pick<OperatorScene, 'subscription'>
  plan: InstallPlan
  hop: OperatorHop
  tools: Pick<HopTools, 'releases' | 'command'>
}

/** The plan held to all rules of night E4, with the platform as it is right now. */
export async function judgedPlan(reader: Reader, question: Question): Promise<Judged> {
  return judgedOn(await platformNow(reader), question)
}

/** The same with the platform as it was seen. Pure. */
export function judgedOn(platform: PlatformNow, { scene, plan, hop, tools }: Question): Judged {
  const verdict = judgeInstallPlan(plan, {
    subscription: scene.subscription,
    csv: hop.csv,
    approveAlso: hop.approveAlso,
    platformBusy: platform.busy,
    beyondPlatform: whyBeyond(hop.csv, platform.minor, tools.releases),
  })
  if (verdict.is !== 'wrong') return { verdict }
  const { name, namespace } = plan.metadata
  return {
    verdict,
    blocked: {
      is: 'blocked',
      reason: verdict.reason,
      by: `installplans/${name} in namespace ${namespace ?? ''} is not approved: ${verdict.why}`,
      remedy: remedyFor(verdict, {
        ...hop,
        plan: name,
        set: scene.subscription.spec?.channel,
        command: tools.command,
      }),
    },
  }
}

function whyBeyond(
  csv: string,
  platform: string | undefined,
  releases: HopTools['releases'],
): string | undefined {
  const version = versionOfCsv(csv)
  if (version === undefined || platform === undefined) return undefined
  const against = againstPlatform(version, platform, releases)
  return against.is === 'beyond' ? `${against.why}, and the platform is at ${platform}` : undefined
}
