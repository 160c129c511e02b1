import { type Node, Nodes } from '../../cluster/kinds/core.ts'
import { type ClusterOperator, ClusterOperators, KubeApiServers } from '../../cluster/kinds/openshift.ts'
import type { Condition } from '../../cluster/object.ts'
import { control } from '../machinery/controller.ts'
import { type Claim, withCondition } from './conditions.ts'
import { operatorVersion } from './cluster-version/progress.ts'
import { listServed, type PlatformContext, seconds, writeStatus } from './platform-context.ts'
import { releaseNumber } from './release-number.ts'

const name = 'kube-apiserver'
const type = 'KubeletMinorVersionUpgradeable'

/** Keeps what kube-apiserver's operator says of the kubelets: on its own resource, and as `Upgradeable` of its ClusterOperator (ocp 3.4). */
export function runKubeletSkew(cx: PlatformContext): Promise<void> {
  const watched = [{ kind: Nodes }, { kind: ClusterOperators, where: { name } }]
  return control(cx, watched, async () => {
    const found = await cx.reader.find(ClusterOperators, { name })
    if (found.is !== 'object' || !found.object.status) return undefined
    const claim = skewOf(found.object, await cx.reader.list(Nodes))
    for (const server of await listServed(cx, KubeApiServers)) {
      const conditions = withCondition(server.status?.conditions ?? [], claim, seconds(cx))
      await writeStatus(cx, KubeApiServers, server, { ...server.status, conditions })
    }
    if (cx.faults.on.notUpgradeable?.some(({ operator }) => operator === name) !== true)
      await sumUp(cx, found.object, claim)
    return undefined
  })
}

async function sumUp(cx: PlatformContext, operator: ClusterOperator, claim: Claim): Promise<void> {
  const { status = {} } = operator
  const reason = claim.status === 'True' ? 'AsExpected' : `KubeletMinorVersion_${claim.reason}`
  const sum: Claim = {
    type: 'Upgradeable',
    status: claim.status,
    reason,
    message: `${type}: ${claim.message}`,
  }
  const conditions = withCondition(status.conditions ?? [], sum, seconds(cx))
  await writeStatus(cx, ClusterOperators, operator, { ...status, conditions })
}

/** How many minors kubelets may lag behind a control plane of that platform release. */
function toleratedSkew({ major, minor }: { major: number; minor: number }): number {
  return major === 4 ? (minor % 2 === 0 ? 2 : 1) : (minor % 3) + 1
}

function skewOf(operator: ClusterOperator, nodes: readonly Node[]): Claim {
  const platform = releaseNumber(operatorVersion(operator))
  const server = operator.status?.versions?.find((v) => v.name === name)?.version ?? ''
  return kubeletSkew({ platform, server }, nodes)
}

type Group = 'behind' | 'ahead' | 'limit' | 'allowed' | 'synced'

/** The gravest of what the nodes' kubelets come to. Pure. */
export function kubeletSkew(
  { platform, server }: { platform: { major: number; minor: number }; server: string },
  nodes: readonly Node[],
): Claim {
  const least = toleratedSkew(platform)
  const leastNext = toleratedSkew({ ...platform, minor: platform.minor + 1 })
  const group = (node: Node): Group => {
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
    return {
      type,
      status: 'True',
      reason: 'KubeletMinorVersionsSynced',
      message: 'Kubelet and API server versions are synced.',
    }
  const { status, reason, words } = verdicts[worst]
  const among = nodes.filter((node) => group(node) === worst)
  return { type, status, reason, message: words(subject(among), server) }
}

const kubeletOf = (node: Node | undefined): string => node?.status?.nodeInfo?.kubeletVersion ?? ''

const verdicts: Record<
  Exclude<Group, 'synced'>,
  { status: Condition['status']; reason: string; words: (subject: string, server: string) => string }
> = {
  behind: {
    status: 'False',
    reason: 'KubeletMinorVersionUnsupported',
    words: (who, server) => `Unsupported ${who} too far behind the target API server version (${server}).`,
  },
  ahead: {
    status: 'Unknown',
    reason: 'KubeletMinorVersionAhead',
    words: (who, server) => `Unsupported ${who} ahead of the target API server version (${server}).`,
  },
  limit: {
    status: 'False',
    reason: 'KubeletMinorVersionUnsupportedNextUpgrade',
    words: (who) => `${who} not supported in the next OpenShift version upgrade.`,
  },
  allowed: {
    status: 'True',
    reason: 'KubeletMinorVersionSupportedNextUpgrade',
    words: (who) =>
      `${who} behind the expected API server version; nevertheless supported in the next OpenShift version upgrade.`,
  },
}

function subject(nodes: readonly Node[]): string {
  const names = nodes.map(({ metadata }) => metadata.name).sort()
  if (names.length === 1)
    return `Kubelet version (${kubeletOf(nodes[0]).replace(/^v/, '')}) on node ${names[0]} is`
  if (names.length > 3) return `Kubelet versions on ${names.length} nodes are`
  const listed =
    names.length === 2 ? names.join(' and ') : `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`
  return `Kubelet versions on nodes ${listed} are`
}
