import { type InstallPlan, InstallPlans, type InstallStep } from '../../cluster/kinds/operator-lifecycle.ts'
import { ApiError } from '../../system/errors.ts'
import { control } from '../machinery/controller.ts'
import { applyObject } from './apply-object.ts'
import { msSince, type OlmContext, seconds } from './olm-context.ts'
import { objectOf } from './plan-steps.ts'

/** A plan shows that it is Installing for so long before its objects are there, ms. */
const executing = 2000
/** An execution that fails is tried again for so long (ocp 2.2). */
const retried = 60_000
/** As many plans are kept in a namespace (ocp 2.2). */
const kept = 5

/** Executes plans that are approved, and clears away the oldest. */
export function runInstallPlans(cx: OlmContext): Promise<void> {
  return control(cx, [{ kind: InstallPlans }], async () => {
    const again: number[] = []
    const plans = await cx.reader.list(InstallPlans)
    for (const plan of plans) {
      const wait = await advance(cx, plan)
      if (wait !== undefined) again.push(wait)
    }
    await clear(cx, plans)
    return again.length > 0 ? Math.min(...again) : undefined
  })
}

/** One phase further; the answer is in how many ms to look again. */
async function advance(cx: OlmContext, plan: InstallPlan): Promise<number | undefined> {
  const phase = plan.status?.phase
  if (phase === 'RequiresApproval' && plan.spec?.approved === true) {
    await write(cx, plan, { phase: 'Installing', startTime: seconds(cx) })
    return executing
  }
  if (phase !== 'Installing') return undefined
  const since = msSince(cx, plan.status?.startTime)
  if (plan.status?.startTime === undefined) {
    await write(cx, plan, { startTime: seconds(cx) })
    return executing
  }
  if (since < executing) return executing - since
  return execute(cx, plan, since)
}

async function execute(cx: OlmContext, plan: InstallPlan, since: number): Promise<number | undefined> {
  try {
    if (cx.faults.on.planFailed !== undefined) throw new Refused(cx.faults.on.planFailed)
    const steps: InstallStep[] = []
    for (const step of plan.status?.plan ?? []) steps.push({ ...step, status: await applyStep(cx, step) })
    await write(cx, plan, {
      phase: 'Complete',
      message: null,
      plan: steps,
      conditions: [installed(cx, { status: 'True' })],
    })
    return undefined
  } catch (error) {
    if (!(error instanceof Refused || error instanceof ApiError)) throw error
    return await failed(cx, plan, { since, why: error.message })
  }
}

/** What the API server says to a step. */
class Refused extends Error {}

async function applyStep(cx: OlmContext, step: InstallStep): Promise<string> {
  const object = await objectOf(cx, step)
  if (object === undefined) throw new Refused(`configmaps "${step.resource?.name ?? ''}" not found`)
  return applyObject(cx, object)
}

async function failed(
  cx: OlmContext,
  plan: InstallPlan,
  { since, why }: { since: number; why: string },
): Promise<number | undefined> {
  if (since < retried) {
    await write(cx, plan, { message: `retrying execution due to error: ${why}` })
    return 5000
  }
  const refused = installed(cx, { status: 'False', reason: 'InstallComponentFailed', message: why })
  await write(cx, plan, { phase: 'Failed', message: why, conditions: [refused] })
  return undefined
}

function installed(
  cx: OlmContext,
  outcome: { status: 'True' | 'False'; reason?: string; message?: string },
): NonNullable<NonNullable<InstallPlan['status']>['conditions']>[number] {
  const at = seconds(cx)
  return { type: 'Installed', ...outcome, lastTransitionTime: at, lastUpdateTime: at }
}

type Status = {
  [K in keyof NonNullable<InstallPlan['status']>]?: NonNullable<InstallPlan['status']>[K] | null
}

async function write(cx: OlmContext, plan: InstallPlan, status: Status): Promise<void> {
  const before = { ...plan.status } as Record<string, unknown>
  if (Object.entries(status).every(([name, value]) => before[name] === value)) return
  await cx.writer.mergePatch(InstallPlans, plan.metadata, { status }, 'status')
}

/** Those of the lowest generations go first, whatever became of them. */
async function clear(cx: OlmContext, plans: readonly InstallPlan[]): Promise<void> {
  const namespaces = new Set(plans.map(({ metadata }) => metadata.namespace))
  for (const namespace of namespaces) {
    const here = plans.filter(({ metadata }) => metadata.namespace === namespace)
    const inOrder = here.toSorted((a, b) => (b.spec?.generation ?? 0) - (a.spec?.generation ?? 0))
    for (const { metadata } of inOrder.slice(kept)) await cx.writer.delete(InstallPlans, metadata)
  }
}
