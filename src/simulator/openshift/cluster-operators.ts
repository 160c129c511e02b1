import * as kube from '../kinds.ts'
import { control, foundIn, seconds, soonest } from '../machinery/controller.ts'
import { phaseDriver, type Phases } from '../machinery/phases.ts'
import {
  isTrue,
  minute,
  nextTick,
  type Platform,
  stated,
  withConditions,
  writeStatus,
} from './platform-context.ts'
import { areMastersAt } from './machine-config-controller.ts'
import { type OperatorPlace, operatorsOf, requestMachines } from './openshift-objects.ts'
import { type OpenShiftShape, type Release, releaseNumber, releaseOf } from './openshift-shape.ts'
import { isAt, operatorVersion } from './cluster-version.ts'
import { listServed } from '../../lib/kube/known.ts'
import { condition, type Condition } from '../../lib/kube/object.ts'
import type { Store } from '../api/store.ts'

/** An operator whose level it is, and where to. */
interface Task {
  place: OperatorPlace
  release: Release
}

/** How often operators look at themselves beside what changes, ms; of that time the loop takes 10 ms to gather changes. */
const ticks = { every: 15_010, delay: 10 }

/** An operator in an update. machine-config has its machines updated besides. */
const updates = (cx: Platform): Phases<kube.ClusterOperator, Task> => ({
  kind: kube.ClusterOperators,
  phases: [
    {
      when: ({ status }) => !isTrue(status?.conditions, 'Progressing'),
      async write(operator, { place, release }) {
        if (place.name === 'machine-config') await requestMachines(cx, release)
        await state(cx, operator, [stated('rolling', { version: release.version })])
      },
    },
    {
      when: (operator, { place }) =>
        !isTrue(operator.status?.conditions, 'Degraded') &&
        cx.faults.on.slowOperators?.includes(place.name) !== true,
      since: (operator) => condition(operator, 'Progressing')?.lastTransitionTime,
      after: (_, { place }) => place.minutes * minute,
      async write(operator, { place, release }) {
        if (place.name === 'machine-config' && !(await areMastersAt(cx, release))) return
        await state(cx, operator, [stated('rolled')], { versions: versionsOf(place.name, release) })
      },
    },
  ],
})

/** Updates the operators level by level to the release that the ClusterVersion has accepted; a level waits for all of the one before. */
export function runClusterOperators(cx: Platform): Promise<void> {
  const kinds = [kube.ClusterVersions, kube.ClusterOperators, kube.Pools]
  const watched = [...kinds.map((kind) => ({ kind })), cx.faults]
  const refusing = new Set<string>()
  const advance = phaseDriver(cx, updates(cx))
  return control(cx, watched, async () => {
    for (const operator of await cx.reader.list(kube.ClusterOperators))
      await state(cx, operator, faultsOf(cx, operator, refusing))
    const [version] = await cx.reader.list(kube.ClusterVersions)
    const { desired, history = [] } = version?.status ?? {}
    const release = history[0]?.state === 'Partial' ? releaseOf(cx.shape.graph, desired?.version) : undefined
    const again: (number | undefined)[] = []
    if (!release) return undefined
    for (const [place, operator] of nextLevel(cx, await cx.reader.list(kube.ClusterOperators), release))
      again.push((await advance(operator, { place, release })) ?? undefined)
    const left = soonest(again)
    return left === undefined ? undefined : nextTick(left, ticks)
  })
}

function nextLevel({ shape }: Platform, operators: readonly kube.ClusterOperator[], { version }: Release) {
  const behind = operatorsOf(shape).flatMap((place) => {
    const operator = operators.find(({ metadata }) => metadata.name === place.name)
    return operator && !isAt(operator, version) ? [[place, operator] as const] : []
  })
  return behind.filter(([{ level }]) => level === behind[0]?.[0].level)
}

type Status = NonNullable<kube.ClusterOperator['status']>

/** Writes these conditions into the status of an operator, and what is said of it besides. */
async function state(
  cx: Platform,
  operator: kube.ClusterOperator,
  claims: readonly Condition[],
  more: Partial<Status> = {},
): Promise<void> {
  if (claims.length === 0) return
  const conditions = withConditions(operator.status?.conditions, claims, seconds(cx))
  await writeStatus(cx, kube.ClusterOperators, operator, { ...operator.status, ...more, conditions })
}

/**
 * The faults that are on, and those taken back that are off again. `refusing` remembers who was made to refuse updates: nobody else's
 * refusal is taken back.
 */
function faultsOf({ faults }: Platform, operator: kube.ClusterOperator, refusing: Set<string>): Condition[] {
  const { name } = operator.metadata
  const unwell = stated('operandsNotReady', { name })
  const wasUnwell = condition(operator, 'Degraded')?.reason === unwell.reason
  const isUnwell = faults.on.degradedOperators?.includes(name) === true
  const refusal = faults.on.notUpgradeable?.find(({ operator: one }) => one === name)
  const refused = refusing.delete(name)
  if (refusal) refusing.add(name)
  return [
    ...(isUnwell ? [unwell] : wasUnwell ? [stated('notDegraded')] : []),
    ...(refusal ? [stated('refusing', { ...refusal })] : refused ? [stated('upgradeable')] : []),
  ]
}

/** Those with an operand of their own, whose version is that of Kubernetes. */
const operands = new Set(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])

/** What an operator says that it is at, once it is at that release. */
export function versionsOf(
  name: string,
  { version, kubernetes }: Pick<Release, 'version' | 'kubernetes'>,
): NonNullable<Status['versions']> {
  const own = { name: 'operator', version }
  return operands.has(name) ? [own, { name, version: kubernetes }] : [own]
}

const kubeApiServer = 'kube-apiserver'
const serverVersion = ({ status }: kube.ClusterOperator): string | undefined =>
  status?.versions?.find(({ name }) => name === kubeApiServer)?.version

/** Keeps what kube-apiserver's operator says of the kubelets: on its own resource, and as `Upgradeable` of its ClusterOperator (ocp 3.4). */
export function runKubeletSkew(cx: Platform): Promise<void> {
  const watched = [{ kind: kube.Nodes }, { kind: kube.ClusterOperators, where: { name: kubeApiServer } }]
  return control(cx, watched, async () => {
    const operator = foundIn(await cx.reader.get(kube.ClusterOperators, { name: kubeApiServer }))
    if (!operator?.status) return
    const platform = releaseNumber(operatorVersion(operator))
    const release = { platform, server: serverVersion(operator) ?? '' }
    const skew = kubeletSkew(release, await cx.reader.list(kube.Nodes))
    for (const server of await listServed(cx.reader, kube.KubeApiServers)) {
      const conditions = withConditions(server.status?.conditions, [skew], seconds(cx))
      await writeStatus(cx, kube.KubeApiServers, server, { ...server.status, conditions })
    }
    if (cx.faults.on.notUpgradeable?.some((fault) => fault.operator === kubeApiServer) === true) return
    const { status, message } = skew
    const reason = status === 'True' ? 'AsExpected' : `KubeletMinorVersion_${skew.reason}`
    await state(cx, operator, [stated('kubelets', { status, reason, message })])
  })
}

/** How many minors kubelets may lag behind a control plane of that platform release. */
const toleratedSkew = ({ major, minor }: { major: number; minor: number }): number =>
  major === 4 ? (minor % 2 === 0 ? 2 : 1) : (minor % 3) + 1

/** The gravest of what the nodes' kubelets come to. Pure. */
export function kubeletSkew(
  { platform, server }: { platform: { major: number; minor: number }; server: string },
  nodes: readonly kube.Node[],
): Condition {
  const least = toleratedSkew(platform)
  const leastNext = toleratedSkew({ ...platform, minor: platform.minor + 1 })
  const lagging = (when: (lag: number) => boolean) =>
    nodes.filter((node) => when(releaseNumber(server).minor - releaseNumber(kubeletOf(node)).minor))
  const groups = [
    ['kubeletsBehind', lagging((lag) => lag > least)],
    ['kubeletsAhead', lagging((lag) => lag < 0)],
    ['kubeletsAtLimit', lagging((lag) => lag > 0 && lag + 1 > leastNext)],
    ['kubeletsAllowed', lagging((lag) => lag > 0)],
  ] as const
  const [name, among] = groups.find(([, found]) => found.length > 0) ?? ['kubeletsSynced', []]
  return stated(name, { who: subject(among), server })
}

const kubeletOf = ({ status }: kube.Node): string => status?.nodeInfo?.kubeletVersion ?? ''

function subject(nodes: readonly kube.Node[]): string {
  const names = nodes.map(({ metadata }) => metadata.name).sort()
  const [only] = nodes
  if (only && names.length === 1)
    return `Kubelet version (${kubeletOf(only).replace(/^v/, '')}) on node ${names[0]} is`
  const which = names.length > 3 ? `${names.length} nodes` : `nodes ${listed.format(names)}`
  return `Kubelet versions on ${which} are`
}

/** `a, b, and c`. */
const listed = new Intl.ListFormat('en')

/** The server's own `/version` is that of the installed release, and follows kube-apiserver's ClusterOperator. */
export function serveReleaseVersion(store: Store, { graph, version }: OpenShiftShape): void {
  const serve = (kubernetes: string | undefined): void => {
    const [major, minor] = kubernetes?.split('.') ?? []
    if (major !== undefined && minor !== undefined)
      store.version = { gitVersion: `v${kubernetes}`, major, minor }
  }
  serve(releaseOf(graph, version)?.kubernetes)
  store.watch(kube.ClusterOperators, ({ object }) => {
    if (object.metadata.name === kubeApiServer) serve(serverVersion(object))
  })
}
