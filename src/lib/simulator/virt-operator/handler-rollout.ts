import { type DaemonSet, DaemonSets } from '../../cluster/kinds/apps.ts'
import type { Pod, PodSpec } from '../../cluster/kinds/pods.ts'
import { recordEvent } from '../machinery/record-event.ts'
import { type HandlerExtras, handlerDaemonSet, migrationNames, oldCertificates } from './components.ts'
import { contains, ensure } from './managed.ts'
import { DeploymentFailure, type OperatorContext, type Pass } from './operator-context.ts'
import { type ComponentPods, componentPods } from './readiness.ts'
import { bearsStamps, isOfDeployment } from './stamp.ts'
import type { Standing } from './operands.ts'

/** virt-handler by canary: maxUnavailable 1, with one updated pod ready 10%, with all of them 1 again (facts 2.8). */
export async function rollHandler(cx: OperatorContext, pass: Pass): Promise<Standing> {
  const ref = { name: 'virt-handler', namespace: pass.config.namespace }
  const found = await cx.reader.find(DaemonSets, ref)
  const before = found.is === 'object' ? found.object : undefined
  const pods = await componentPods(cx, pass, before)
  const wanted = handlerDaemonSet(pass.config, extrasOf(cx, pass, { set: before, pods }))
  if (before === undefined || !bearsStamps(before, pass.config, pass.generation) || drifted(before, wanted)) {
    await write(cx, pass, { before, wanted })
    return 'changed'
  }
  if (pods.updatedReady === 0) await refuseBrokenCanary(cx, before, pods.all)
  if (pods.updatedReady > desiredOf(before) && isRolling(before, pass)) throw unexpected(pods, before)
  const next = nextLimit(before, pods)
  if (next !== undefined) {
    await cx.writer.mergePatch(DaemonSets, ref, {
      spec: { updateStrategy: { rollingUpdate: { maxUnavailable: next } } },
    })
  }
  return isThrough(before, pods) ? 'rolled' : 'rolling'
}

const limitOf = ({ spec }: DaemonSet): number | string =>
  spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1
const desiredOf = ({ status }: DaemonSet): number => status?.desiredNumberScheduled ?? 0
const drifted = (before: DaemonSet, wanted: DaemonSet): boolean =>
  !contains(before.spec?.template?.spec, wanted.spec?.template?.spec)

async function write(cx: OperatorContext, pass: Pass, { before, wanted }: Rewrite): Promise<void> {
  const onlyStamps = before !== undefined && !drifted(before, wanted)
  await ensure(cx, pass, { kind: DaemonSets, object: onlyStamps ? withoutLimit(wanted) : wanted })
}

interface Rewrite {
  before: DaemonSet | undefined
  wanted: DaemonSet
}

/** An edit of the CR alone leaves maxUnavailable as the rollout has it. */
function withoutLimit(wanted: DaemonSet): DaemonSet {
  const { updateStrategy: _, ...spec } = wanted.spec ?? {}
  return { ...wanted, spec }
}

function nextLimit(set: DaemonSet, pods: ComponentPods): number | string | undefined {
  const desired = desiredOf(set)
  const limit = limitOf(set)
  if (pods.updatedReady >= desired) return limit === 1 ? undefined : 1
  return pods.updatedReady > 0 && limit === 1 && desired > 1 ? '10%' : undefined
}

function isThrough(set: DaemonSet, pods: ComponentPods): boolean {
  const desired = desiredOf(set)
  const seen = (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0)
  return (
    seen &&
    desired > 0 &&
    set.status?.numberReady === desired &&
    pods.updatedReady >= desired &&
    !pods.oldRunning
  )
}

const isRolling = (set: DaemonSet, { kubevirt, config }: Pass): boolean =>
  limitOf(set) !== 1 || kubevirt.status?.observedDeploymentID !== config.id

/** More are ready than are wanted: the one too many is on a node that the DaemonSet left (facts 2.8). */
function unexpected({ updatedReady }: ComponentPods, set: DaemonSet): DeploymentFailure {
  const counts = `updatedAndReadyPods=${updatedReady}, desiredReadyPods=${desiredOf(set)}`
  return new DeploymentFailure(`unexpected canary upgrade state: ${counts}`)
}

/** A canary that ends is a failure; one that never starts is waited for without an end. */
async function refuseBrokenCanary(cx: OperatorContext, set: DaemonSet, pods: readonly Pod[]): Promise<void> {
  const ended = pods.some(
    (pod) => pod.status?.containerStatuses?.some((c) => (c.restartCount ?? 0) > 0) ?? false,
  )
  if (!ended) return
  const message = `daemonSet ${set.metadata.name} rollout failed`
  await recordEvent(cx, set, { type: 'Warning', reason: 'FailedUpdate', message, by: 'virt-operator' })
  throw new DeploymentFailure(`unable to update DaemonSet ${set.metadata.name}: ${message}`)
}

/**
 * Without the fault the argument is there from the first install on, as was seen from v1.7.0 on (lab "Seen" 9). With
 * it: nothing until the release is observed, then the argument, and once that roll is through the volume goes.
 */
function extrasOf(
  cx: OperatorContext,
  { kubevirt, config }: Pass,
  { set, pods }: { set: DaemonSet | undefined; pods: ComponentPods },
): HandlerExtras {
  const { moreHandlerRolls: more, noMigrationNames } = cx.faults.on
  if (noMigrationNames === true) return { migrationNames: false, oldVolume: false }
  if (more !== true && more !== 'before done') return { migrationNames: true, oldVolume: false }
  const ofThis = set !== undefined && isOfDeployment(set, config.id)
  const through =
    more === true
      ? kubevirt.status?.observedDeploymentID === config.id
      : ofThis && isWhole(set) && !pods.oldRunning
  if (set === undefined || !(through || (ofThis && knowsNames(set))))
    return { migrationNames: false, oldVolume: true }
  return { migrationNames: true, oldVolume: hasOldVolume(set) && !(knowsNames(set) && isWhole(set)) }
}

const podSpecOf = ({ spec }: DaemonSet): PodSpec => spec?.template?.spec ?? {}

function hasOldVolume(set: DaemonSet): boolean {
  return podSpecOf(set).volumes?.some((volume) => volume.name === oldCertificates) ?? false
}

function knowsNames(set: DaemonSet): boolean {
  return podSpecOf(set).containers?.[0]?.args?.includes(migrationNames[0]) ?? false
}

function isWhole({ metadata, status = {} }: DaemonSet): boolean {
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false
  const { desiredNumberScheduled: desired, updatedNumberScheduled, numberReady } = status
  return updatedNumberScheduled === desired && numberReady === desired
}
