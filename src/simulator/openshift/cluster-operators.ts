import * as kube from '../kinds.ts'
import { claim, control, seconds } from '../machinery/controller.ts'
import {
  isTrue,
  listServed,
  minute,
  msSince,
  type Platform,
  pollEvery,
  withConditions,
  writeStatus,
} from './platform-context.ts'
import { areMastersAt } from './machine-config-controller.ts'
import { type OperatorPlace, operatorsOf, requestMachines } from './openshift-objects.ts'
import { type OpenShiftShape, type Release, releaseNumber, releaseOf } from './openshift-shape.ts'
import { isAt, operatorVersion } from './cluster-version.ts'
import { condition, type Condition } from '../../lib/kube/object.ts'
import type { Store } from '../api/store.ts'

/** Updates the operators level by level to the release that the ClusterVersion has accepted; a level waits for all of the one before. */
export function runClusterOperators(cx: Platform): Promise<void> {
  const watched = [
    { kind: kube.ClusterVersions },
    { kind: kube.ClusterOperators },
    { kind: kube.Pools },
    cx.faults,
  ]
  const refusing = new Set<string>()
  return control(cx, watched, async () => {
    for (const operator of await cx.reader.list(kube.ClusterOperators))
      await writeStatus(cx, kube.ClusterOperators, operator, withFaults(cx, operator, refusing))
    const release = await releaseUnderway(cx)
    if (!release) return undefined
    for (const { place, operator } of nextLevel(cx, await cx.reader.list(kube.ClusterOperators), release))
      await advance(cx, operator, { place, release })
    return pollEvery
  })
}

async function releaseUnderway(cx: Platform): Promise<Release | undefined> {
  const [version] = await cx.reader.list(kube.ClusterVersions)
  const { desired, history = [] } = version?.status ?? {}
  return history[0]?.state === 'Partial' ? releaseOf(cx.shape.graph, desired?.version) : undefined
}

interface Placed {
  place: OperatorPlace
  operator: kube.ClusterOperator
}

function nextLevel({ shape }: Platform, operators: readonly kube.ClusterOperator[], { version }: Release) {
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

async function advance(cx: Platform, operator: kube.ClusterOperator, task: Task): Promise<void> {
  const { conditions } = operator.status ?? {}
  if (!isTrue(conditions, 'Progressing')) return begin(cx, operator, task)
  const late = msSince(conditions, 'Progressing', cx.clock.now()) >= task.place.minutes * minute
  if (late && (await mayFinish(cx, operator, task))) await finish(cx, operator, task)
}

async function begin(cx: Platform, operator: kube.ClusterOperator, { place, release }: Task): Promise<void> {
  if (place.name === 'machine-config') await requestMachines(cx, release)
  const rolling = claim('Progressing', 'True', 'RollingOut', `Working towards ${release.version}`)
  await writeStatus(cx, kube.ClusterOperators, operator, withClaim(cx, operator, rolling))
}

async function mayFinish(cx: Platform, operator: kube.ClusterOperator, { place, release }: Task) {
  if (cx.faults.on.slowOperators?.includes(place.name) === true) return false
  if (isTrue(operator.status?.conditions, 'Degraded')) return false
  return place.name !== 'machine-config' || areMastersAt(cx, release)
}

async function finish(cx: Platform, operator: kube.ClusterOperator, { place, release }: Task): Promise<void> {
  const done = claim('Progressing', 'False', 'AsExpected', '')
  const status = { ...withClaim(cx, operator, done), versions: versionsOf(place.name, release) }
  await writeStatus(cx, kube.ClusterOperators, operator, status)
}

function withClaim(cx: Platform, { status }: kube.ClusterOperator, said: Condition) {
  return { ...status, conditions: withConditions(status?.conditions ?? [], [said], seconds(cx)) }
}

const unwell = 'OperandsNotReady'

/**
 * An operator's status with the faults that are on, and without those that are off again. `refusing` remembers who was made to refuse
 * updates: nobody else's refusal is taken back.
 */
function withFaults(cx: Platform, operator: kube.ClusterOperator, refusing: Set<string>) {
  const claims = [...degraded(cx, operator), ...upgradeable(cx, operator, refusing)]
  if (claims.length === 0) return operator.status
  const conditions = withConditions(operator.status?.conditions ?? [], claims, seconds(cx))
  return { ...operator.status, conditions }
}

function degraded({ faults }: Platform, operator: kube.ClusterOperator): Condition[] {
  const { name } = operator.metadata
  if (faults.on.degradedOperators?.includes(name) === true)
    return [claim('Degraded', 'True', unwell, `the operands of ${name} are not ready`)]
  return condition(operator, 'Degraded')?.reason === unwell
    ? [claim('Degraded', 'False', 'AsExpected', '')]
    : []
}

function upgradeable(
  { faults }: Platform,
  { metadata: { name } }: kube.ClusterOperator,
  refusing: Set<string>,
): Condition[] {
  const fault = faults.on.notUpgradeable?.find((f) => f.operator === name)
  if (!fault) return refusing.delete(name) ? [claim('Upgradeable', 'True', 'AsExpected', '')] : []
  refusing.add(name)
  return [claim('Upgradeable', 'False', fault.reason, fault.message)]
}

/** Those with an operand of their own, whose version is that of Kubernetes. */
const operands = new Set(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])

/** What an operator says that it is at, once it is at that release. */
export function versionsOf(
  name: string,
  { version, kubernetes }: Pick<Release, 'version' | 'kubernetes'>,
): NonNullable<NonNullable<kube.ClusterOperator['status']>['versions']> {
  const own = { name: 'operator', version }
  return operands.has(name) ? [own, { name, version: kubernetes }] : [own]
}

const kubeApiServer = 'kube-apiserver'
const type = 'KubeletMinorVersionUpgradeable'

/** Keeps what kube-apiserver's operator says of the kubelets: on its own resource, and as `Upgradeable` of its ClusterOperator (ocp 3.4). */
export function runKubeletSkew(cx: Platform): Promise<void> {
  const watched = [{ kind: kube.Nodes }, { kind: kube.ClusterOperators, where: { name: kubeApiServer } }]
  return control(cx, watched, async () => {
    const found = await cx.reader.get(kube.ClusterOperators, { name: kubeApiServer })
    if (found.is !== 'object' || !found.object.status) return
    const skew = skewOf(found.object, await cx.reader.list(kube.Nodes))
    for (const server of await listServed(cx, kube.KubeApiServers)) {
      const conditions = withConditions(server.status?.conditions ?? [], [skew], seconds(cx))
      await writeStatus(cx, kube.KubeApiServers, server, { ...server.status, conditions })
    }
    if (cx.faults.on.notUpgradeable?.some(({ operator }) => operator === kubeApiServer) === true) return
    const { status, reason, message } = skew
    const because = status === 'True' ? 'AsExpected' : `KubeletMinorVersion_${reason}`
    const sum = claim('Upgradeable', status, because, `${type}: ${message}`)
    await writeStatus(cx, kube.ClusterOperators, found.object, withClaim(cx, found.object, sum))
  })
}

/** How many minors kubelets may lag behind a control plane of that platform release. */
const toleratedSkew = ({ major, minor }: { major: number; minor: number }): number =>
  major === 4 ? (minor % 2 === 0 ? 2 : 1) : (minor % 3) + 1

function skewOf(operator: kube.ClusterOperator, nodes: readonly kube.Node[]): Condition {
  const platform = releaseNumber(operatorVersion(operator))
  const server = operator.status?.versions?.find((v) => v.name === kubeApiServer)?.version ?? ''
  return kubeletSkew({ platform, server }, nodes)
}

type Group = 'behind' | 'ahead' | 'limit' | 'allowed' | 'synced'

/** The gravest of what the nodes' kubelets come to. Pure. */
export function kubeletSkew(
  { platform, server }: { platform: { major: number; minor: number }; server: string },
  nodes: readonly kube.Node[],
): Condition {
  const least = toleratedSkew(platform)
  const leastNext = toleratedSkew({ ...platform, minor: platform.minor + 1 })
  const group = (node: kube.Node): Group => {
    const lag = releaseNumber(server).minor - releaseNumber(kubeletOf(node)).minor
    if (lag < 0) return 'ahead'
    if (lag === 0) return 'synced'
    if (lag > least) return 'behind'
    return lag + 1 > leastNext ? 'limit' : 'allowed'
  }
  const worst = (['behind', 'ahead', 'limit', 'allowed'] as const).find((g) =>
    nodes.some((n) => group(n) === g),
  )
  if (!worst)
    return claim(type, 'True', 'KubeletMinorVersionsSynced', 'Kubelet and API server versions are synced.')
  const [status, reason, words] = verdicts[worst]
  const among = nodes.filter((node) => group(node) === worst)
  return claim(type, status, `KubeletMinorVersion${reason}`, words(subject(among), server))
}

const kubeletOf = (node: kube.Node | undefined): string => node?.status?.nodeInfo?.kubeletVersion ?? ''

type Verdict = [Condition['status'], reason: string, words: (subject: string, server: string) => string]

const verdicts: Record<Exclude<Group, 'synced'>, Verdict> = {
  behind: [
    'False',
    'Unsupported',
    (who, server) => `Unsupported ${who} too far behind the target API server version (${server}).`,
  ],
  ahead: [
    'Unknown',
    'Ahead',
    (who, server) => `Unsupported ${who} ahead of the target API server version (${server}).`,
  ],
  limit: [
    'False',
    'UnsupportedNextUpgrade',
    (who) => `${who} not supported in the next OpenShift version upgrade.`,
  ],
  allowed: [
    'True',
    'SupportedNextUpgrade',
    (who) =>
      `${who} behind the expected API server version; nevertheless supported in the next OpenShift version upgrade.`,
  ],
}

function subject(nodes: readonly kube.Node[]): string {
  const names = nodes.map(({ metadata }) => metadata.name).sort()
  if (names.length === 1)
    return `Kubelet version (${kubeletOf(nodes[0]).replace(/^v/, '')}) on node ${names[0]} is`
  if (names.length > 3) return `Kubelet versions on ${names.length} nodes are`
  const listed =
    names.length === 2 ? names.join(' and ') : `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`
  return `Kubelet versions on nodes ${listed} are`
}

/** The server's own `/version` is that of the installed release, and follows kube-apiserver's ClusterOperator. */
export function serveReleaseVersion(store: Store, { graph, version }: OpenShiftShape): void {
  become(store, releaseOf(graph, version)?.kubernetes)
  store.watch(kube.ClusterOperators, ({ object }) => {
    if (object.metadata.name !== 'kube-apiserver') return
    const { status } = object as kube.ClusterOperator
    become(store, status?.versions?.find(({ name }) => name === 'kube-apiserver')?.version)
  })
}

function become(store: Store, kubernetes: string | undefined): void {
  const [major, minor] = kubernetes?.split('.') ?? []
  if (major !== undefined && minor !== undefined)
    store.version = { gitVersion: `v${kubernetes}`, major, minor }
}
