import {
  type ClusterOperator,
  ClusterOperators,
  ClusterVersions,
  MachineConfigPools,
} from '../../../cluster/kinds/openshift.ts'
import { control } from '../../machinery/controller.ts'
import { type Claim, isTrue, msSince, withCondition } from '../conditions.ts'
import { areMastersAt } from '../machine-config/masters.ts'
import { requestMachines } from '../machine-config/release-images.ts'
import { type OperatorPlace, operatorsOf } from '../operator-list.ts'
import { look, minute, type PlatformContext, seconds, writeStatus } from '../platform-context.ts'
import { releaseOf } from '../release-number.ts'
import type { Release } from '../shape.ts'
import { withFaults } from './operator-faults.ts'
import { versionsOf } from './operator-versions.ts'
import { isAt } from './progress.ts'

/** Updates the operators level by level to the release that the ClusterVersion has accepted; a level waits for all of the one before. */
export function runClusterOperators(cx: PlatformContext): Promise<void> {
  const watched = [
    { kind: ClusterVersions },
    { kind: ClusterOperators },
    { kind: MachineConfigPools },
    cx.faults,
  ]
  const refusing = new Set<string>()
  return control(cx, watched, async () => {
    for (const operator of await cx.reader.list(ClusterOperators))
      await writeStatus(cx, ClusterOperators, operator, withFaults(cx, operator, refusing))
    const release = await releaseUnderway(cx)
    if (!release) return undefined
    for (const { place, operator } of nextLevel(cx, await cx.reader.list(ClusterOperators), release))
      await advance(cx, operator, { place, release })
    return look
  })
}

async function releaseUnderway(cx: PlatformContext): Promise<Release | undefined> {
  const [version] = await cx.reader.list(ClusterVersions)
  const { desired, history = [] } = version?.status ?? {}
  return history[0]?.state === 'Partial' ? releaseOf(cx.shape.graph, desired?.version) : undefined
}

interface Placed {
  place: OperatorPlace
  operator: ClusterOperator
}

function nextLevel(
  { shape }: PlatformContext,
  operators: readonly ClusterOperator[],
  { version }: Release,
): Placed[] {
  const behind = operatorsOf(shape).flatMap((place): Placed[] => {
    const operator = operators.find(({ metadata }) => metadata.name === place.name)
    return operator && !isAt(operator, version) ? [{ place, operator }] : []
  })
  const level = Math.min(...behind.map(({ place }) => place.level))
  return behind.filter(({ place }) => place.level === level)
}

interface Task {
  place: OperatorPlace
  release: Release
}

async function advance(cx: PlatformContext, operator: ClusterOperator, task: Task): Promise<void> {
  const { conditions } = operator.status ?? {}
  if (!isTrue(conditions, 'Progressing')) return begin(cx, operator, task)
  const late = msSince(conditions, 'Progressing', cx.clock.now()) >= task.place.minutes * minute
  if (late && (await mayFinish(cx, operator, task))) await finish(cx, operator, task)
}

async function begin(
  cx: PlatformContext,
  operator: ClusterOperator,
  { place, release }: Task,
): Promise<void> {
  const message = `Working towards ${release.version}`
  if (place.name === 'machine-config') await requestMachines(cx, release)
  const claim = { type: 'Progressing', status: 'True', reason: 'RollingOut', message } as const
  await writeStatus(cx, ClusterOperators, operator, withClaim(cx, operator, claim))
}

async function mayFinish(
  cx: PlatformContext,
  operator: ClusterOperator,
  { place, release }: Task,
): Promise<boolean> {
  if (cx.faults.on.slowOperators?.includes(place.name) === true) return false
  if (isTrue(operator.status?.conditions, 'Degraded')) return false
  return place.name !== 'machine-config' || areMastersAt(cx, release)
}

async function finish(
  cx: PlatformContext,
  operator: ClusterOperator,
  { place, release }: Task,
): Promise<void> {
  const claim = { type: 'Progressing', status: 'False', reason: 'AsExpected', message: '' } as const
  const status = { ...withClaim(cx, operator, claim), versions: versionsOf(place.name, release) }
  await writeStatus(cx, ClusterOperators, operator, status)
}

function withClaim(
  cx: PlatformContext,
  { status }: ClusterOperator,
  claim: Claim,
): NonNullable<ClusterOperator['status']> {
  return { ...status, conditions: withCondition(status?.conditions ?? [], claim, seconds(cx)) }
}
