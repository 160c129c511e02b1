import { type KubeVirt, VirtualMachines } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { managerOf } from '../../lib/kubevirt/installation.ts'
import { versionOf } from '../../lib/releases/release-versions.ts'
import { reachable } from '../../lib/releases/release-path.ts'
import { type Asked, clusterOf, connectionOf, last, type Source } from './asked.ts'
import { Namespaces, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import type { Cluster, Reader } from '../../lib/kube/cluster.ts'
import { listKubeVirts } from '../../lib/kubevirt/snapshot.ts'
import { KvupError } from '../../lib/kube/errors.ts'
import { loadKubeconfig } from '../../lib/kube/http/kubeconfig.ts'

/** VMs of the namespace that -n names; none without it, for a name alone means nothing then. */
export const vmNames: Source = async (asked, offer) => {
  const namespace = last(asked, '--namespace') ?? asked.cx.flags.namespace
  if (namespace === undefined || asked.options.has('--all')) return
  const { reader } = await clusterOf(asked)
  for await (const { items } of reader.pages(VirtualMachines, { namespace }))
    for (const { metadata, status } of items)
      if (isName(metadata.name)) offer({ value: metadata.name, description: status?.printableStatus ?? '' })
}

/** VMs as `namespace/name`, of the namespace that -n names or of all. */
export const vmPlaces: Source = async (asked, offer) => {
  const namespace = last(asked, '--namespace') ?? asked.cx.flags.namespace
  const everywhere = namespace === undefined || asked.options.has('--all-namespaces')
  const { reader } = await clusterOf(asked)
  for await (const { items } of reader.pages(VirtualMachines, everywhere ? {} : { namespace }))
    for (const { metadata, status } of items)
      if (isName(metadata.name) && isNamespace(metadata.namespace ?? ''))
        offer({ value: `${metadata.namespace}/${metadata.name}`, description: status?.printableStatus ?? '' })
}

/** Nodes that run VMs. */
export const nodeNames: Source = async (asked, offer) => {
  const { reader } = await clusterOf(asked)
  for await (const { items } of reader.pages(Nodes, { labels: 'kubevirt.io/schedulable' }))
    for (const { metadata } of items)
      if (isName(metadata.name)) offer({ value: metadata.name, description: '' })
}

/** A server may say what it likes: only what can be one reaches a shell (RFC 1123 subdomain). */
const isName = (name: string): boolean => /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(name)

/** Namespaces with virtual machines; every namespace where there are none, or where they may not be listed. */
export const vmNamespaces: Source = async (asked, offer) => {
  const { reader } = await clusterOf(asked)
  const told = new Set<string>()
  const tell = (name: string | undefined, description: string) => {
    if (name === undefined || told.has(name) || !isNamespace(name)) return
    told.add(name)
    offer({ value: name, description })
  }
  await withVms(reader, (name) => tell(name, 'has VMs'))
  if (told.size > 0) return
  for await (const { items } of reader.pages(Namespaces))
    for (const { metadata } of items) tell(metadata.name, '')
}

/** Where KubeVirt is installed. */
export const kubevirtNamespaces: Source = async (asked, offer) => {
  const found = await listKubeVirts((await clusterOf(asked)).reader)
  if (!found.known) return
  for (const { metadata } of found.items)
    if (metadata.namespace !== undefined && isNamespace(metadata.namespace))
      offer({ value: metadata.namespace, description: `of KubeVirt ${metadata.name}` })
}

async function withVms(reader: Reader, tell: (name: string | undefined) => void): Promise<void> {
  try {
    for await (const { items } of reader.pages(VirtualMachines))
      for (const { metadata } of items) tell(metadata.namespace)
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
  }
}

/** A server may say what it likes: only what can be one reaches a shell (RFC 1123 label). */
function isNamespace(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)
}

/** What `--context`, `--cluster` and `--user` may name; no request is sent. */
export function namesIn(list: 'contexts' | 'clusters' | 'users'): Source {
  return async (asked, offer) => {
    const entries = await loadKubeconfig(connectionOf(asked), asked.cx.world.env)
    for (const { name } of entries[list]) offer({ value: name, description: '' })
  }
}

/**
 * Where the cluster can go in one hop; where a HyperConverged owns KubeVirt, what the catalog of its operator has. Throws where that is not known: no
 * KubeVirt, or a saved cluster is judged.
 */
export const reachableVersions: Source = async (asked, offer) => {
  const { kubevirt, cluster } = await theKubeVirt(asked)
  if (managerOf(kubevirt)?.kind === 'hyperconverged') return offerReleases(cluster.reader, offer)
  const observed = observedIn(kubevirt)
  for (const value of reachable(observed)) offer({ value, description: `one step from ${observed}` })
}

async function offerReleases(reader: Reader, offer: Parameters<Source>[1]): Promise<void> {
  const [{ seeOperator }, { releasesAhead }, { knownReleases }] = await Promise.all([
    import('../../lib/upgrade/methods/olm-operator.ts'),
    import('../../lib/upgrade/methods/operator-target.ts'),
    import('../../lib/releases/releases.ts'),
  ])
  const operatorSnapshot = await seeOperator(reader)
  for (const value of releasesAhead({ operatorSnapshot, releases: knownReleases }))
    offer({ value, description: `HyperConverged, from ${operatorSnapshot.installed.text}` })
}

/** What follows `--for version=`. */
export const versionConditions: Source = async (asked, offer) => {
  const begun = 'version='
  if (!asked.typed.startsWith(begun)) throw new Error('no version is asked for')
  const observed = observedIn((await theKubeVirt(asked)).kubevirt)
  offer({ value: `${begun}${observed}`, description: 'as it is now' })
  for (const value of reachable(observed))
    offer({ value: `${begun}${value}`, description: `one step from ${observed}` })
}

async function theKubeVirt(asked: Asked): Promise<{ kubevirt: KubeVirt; cluster: Cluster }> {
  if (last(asked, '--from') !== undefined) throw new Error('a saved cluster is not read for a completion')
  const cluster = await clusterOf(asked)
  const found = await listKubeVirts(cluster.reader)
  const [kubevirt] = found.known ? found.items : []
  if (kubevirt === undefined) throw new Error('no KubeVirt was seen')
  return { kubevirt, cluster }
}

function observedIn({ status }: KubeVirt): string {
  const observed = versionOf(status?.observedKubeVirtVersion)?.text
  if (observed === undefined) throw new Error('no version was observed')
  return observed
}

/** The runs that the journal of this cluster holds, the newest first. Throws where there is no KubeVirt. */
export const runNumbers: Source = async (asked, offer) => {
  const { clock, world } = asked.cx
  const { kubevirt, cluster } = await theKubeVirt(asked)
  const { namespace = '' } = kubevirt.metadata
  const { configMapJournal } = await import('../../lib/engine/journal-config-map.ts')
  const { journalRuns } = await import('../../lib/engine/journal-runs.ts')
  const entries = await configMapJournal(cluster, { namespace, who: world.who, clock }).entries()
  const runs = journalRuns(entries, { asOf: clock.now().toISOString() })
  for (const { run, procedure, result } of runs.toReversed())
    offer({ value: String(run), description: `${procedure}: ${result}` })
}
