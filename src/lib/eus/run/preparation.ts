import { Subscriptions } from '../../cluster/kinds/operator-lifecycle.ts'
import { MachineHealthChecks, NodeHealthChecks } from '../../cluster/kinds/openshift.ts'
import type { Kind } from '../../cluster/kind.ts'
import type { Reader } from '../../cluster/cluster.ts'
import type { KubeObject } from '../../cluster/object.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { holdWorkloadUpdates } from '../../workloads/hold.ts'
import type { HealthCheckRef } from '../eus-plan.ts'
import type { Borrowable } from '../loans/borrowable.ts'
import { approvalOf, machineHealthCheckPaused, nodeHealthCheckPaused } from '../loans/fields.ts'
import { takeField } from '../loans/take.ts'
import { keepChosenWay } from '../steps/keep-way.ts'
import { keepWhereItBegan } from '../steps/keep-baseline.ts'
import { heldOnce } from '../steps/methods-still.ts'
import { noneOutdated } from '../steps/vms-left.ts'
import { pausablePools } from './pausable-pools.ts'
import { pausePool } from './pause-pool.ts'
import { roomsBefore } from './plain-pools.ts'
import { type EusWindow, holdingOf, settingsOf, stopOf } from './window.ts'

/** What is borrowed before the first hop, each kept before it is changed: update methods, pools, what would replace their nodes, approval. */
export async function preparation(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const { plan, way, name, request } = window
  const settings = await settingsOf(window, cx.reader)
  const pools = way === 'plain' ? [] : await pausablePools(cx.reader)
  const checks = await healthChecks(cx.reader, plan.healthChecks)
  return [
    ...(window.hops.some((hop) => hop.outdatedMustBeZero)
      ? [
          onlyAtFirst(
            noneOutdated(
              { id: 'launchers-current', title: 'no VM on an old virt-launcher', risk: 'outdated-launchers' },
              request,
            ),
          ),
        ]
      : []),
    ...(way === 'plain' ? await rooms(window, cx.reader) : []),
    keepWhereItBegan({
      name,
      way,
      pools: pools.map((pool) => pool.name),
      ...(plan.to !== window.to && { goal: plan.to }),
    }),
    keepChosenWay(window),
    heldOnce(holdWorkloadUpdates(settings, by(window)), holdingOf(window)),
    ...pools.map((pool) => pausePool(window, pool, by(window))),
    ...checks.map(({ field, id, title }) => takeField(field, { id, title, ...by(window) })),
    ...(await approvalStep(window, cx.reader)),
  ]
}

async function rooms(window: EusWindow, reader: Reader): Promise<readonly Step[]> {
  const [first] = window.hops
  return first === undefined ? [] : roomsBefore(window, stopOf(window, first), reader)
}

const by = ({ who, name, request }: EusWindow) => ({
  who,
  procedure: name,
  again: request.accepted.includes('borrowed-changed'),
  command: request.command,
})

/** Inside of a window VMs are meant to stay where they are. */
function onlyAtFirst(step: Step): Step {
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const isOpen = (await cx.journal.loans()).some(({ id }) => id === 'workload-updates')
      return isOpen ? { is: 'done' } : step.check(cx)
    },
  }
}

interface HealthCheckStep {
  field: Borrowable
  id: string
  title: string
}

async function healthChecks(
  reader: Reader,
  refs: readonly HealthCheckRef[],
): Promise<readonly HealthCheckStep[]> {
  const found = await Promise.all(refs.map(async (ref) => healthCheck(reader, ref)))
  return found.flat()
}

async function healthCheck(reader: Reader, ref: HealthCheckRef): Promise<HealthCheckStep[]> {
  const { kind, name, namespace } = ref
  const isMachines = kind === 'MachineHealthCheck'
  const at = { name, namespace }
  const uid = await (isMachines
    ? uidOf(reader, MachineHealthChecks, at)
    : uidOf(reader, NodeHealthChecks, at))
  if (uid === undefined) return []
  const looked = { name, namespace, uid }
  const field = isMachines ? machineHealthCheckPaused(looked) : nodeHealthCheckPaused(looked)
  const place = namespace === undefined ? name : `${namespace}-${name}`
  return [{ field, id: `pause-health-check-${place}`, title: `pause ${kind} ${name}` }]
}

async function approvalStep(window: EusWindow, reader: Reader): Promise<readonly Step[]> {
  const { approval } = window.request
  const subscription = window.plan.operator?.subscription
  if (approval === undefined || subscription === undefined) return []
  const uid = await uidOf(reader, Subscriptions, subscription)
  if (uid === undefined) return []
  const field = approvalOf({ ...subscription, uid }, approval)
  return [takeField(field, { id: 'approval', title: `${approval} approval of the operator`, ...by(window) })]
}

async function uidOf<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  ref: { name: string; namespace?: string | undefined },
): Promise<string | undefined> {
  const found = await reader.find(kind, ref)
  return found.is === 'object' ? found.object.metadata.uid : undefined
}
