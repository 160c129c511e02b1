import {
  PatienceByHealth,
  type ReadContext,
  type Step,
  type StepState,
  type Waiting,
} from '../../engine/step.ts'
import { hours, minutes, seconds, ticks } from '../../kube/clock.ts'
import {
  readOperator,
  type OperatorRollSnapshot,
  rollSnapshotWatches,
} from '../../upgrade/methods/operator-manifest.ts'
import type { OperatorPart } from './operator-steps.ts'
import { makesCatalog } from '../../releases/catalog-path.ts'
import type { Reader } from '../../kube/cluster.ts'
import type { CatalogSource, Subscription } from '../../kube/kinds/operator-kinds.ts'
import { type Pod, Pods } from '../../kube/kinds/workload-kinds.ts'
import { condition } from '../../kube/object.ts'
import { itemsOf, known } from '../../kube/known.ts'
import { type LifecycleSnapshot, takeLifecycle } from '../../openshift/olm-status.ts'
import { platformOfOperator, type Releases } from '../../releases/releases.ts'
import {
  compareMinors,
  compareOperatorVersions,
  type OperatorVersion,
  stemOf,
  versionOfCsv,
} from '../../releases/release-versions.ts'

interface Latest {
  /** The last release that is known; undefined where none of this hop is yet. */
  after: NamedCsv | undefined
  hop: HopPath
  /** That goes on, to be repeated with a flag more. */
  command: string
}

/**
 * Done once there is a later release to go to, or the path has none for this minor, or, where no path is known, the catalog of this minor answers and has none
 * (night E4): "the latest that is known" says nothing before the catalog itself was replaced, which takes up to 15 minutes (ocp 2.1). A release of a minor
 * comes days or weeks after the platform's: so long it is waited for, as long as the catalog answers.
 */
export function operatorLatest(part: OperatorPart, latest: Latest): Step {
  const { subscription } = part.operator
  const patience = new PatienceByHealth({ every: 15 * seconds, well: 14 * 24 * hours, wrong: 2 * hours })
  const behind = latest.after === undefined ? '' : `-after-${latest.after.version}`
  return {
    id: `operator-releases-${part.minor}${behind}`,
    title: `find releases of virtualization for ${part.minor}`,
    patience,
    estimate: 10 * minutes,
    watches: rollSnapshotWatches({ subscription }),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader, clock }: ReadContext): Promise<StepState> {
      const snapshot = await readOperator(reader, { subscription })
      const last = csvsOnPath(snapshot, latest.hop).at(-1)
      if (last !== undefined && last.csv !== latest.after?.csv)
        return { is: 'done', note: `${last.version} is next` }
      const end = plannedEnd(part, latest)
      if (end !== undefined) return { is: 'done', note: `${end}, as planned` }
      const catalog = await catalogNow(reader, snapshot.subscription, latest.command)
      patience.saw(catalog.is === 'answers' ? 'well' : 'wrong', ticks(clock))
      return noneLeft({ snapshot, latest }, catalog)
    },
  }
}

/** Its version, where it is reached. */
function plannedEnd({ stops }: OperatorPart, { after, hop }: Latest): string | undefined {
  const csv = pathInHop(hop)?.findLast((one) => minorOfCsv(one, hop.releases) === hop.minor)
  if (csv !== undefined) return csv === after?.csv ? after.version : undefined
  const version = stops.findLast((stop) => stop.version !== undefined)?.version
  return version !== undefined && version === after?.version ? version : undefined
}

interface Question {
  snapshot: OperatorRollSnapshot
  latest: Latest
}

function noneLeft(question: Question, catalog: Awaited<ReturnType<typeof catalogNow>>): StepState {
  if (catalog.is === 'waits') return catalog.state
  const { snapshot, latest } = question
  const { after, hop } = latest
  if (after !== undefined && isLatest(snapshot, after, catalog.head))
    return { is: 'done', note: `${after.version} is the latest` }
  const isOfMinor = minorOfCsv(catalog.head, hop.releases) === hop.minor
  const stray = isOfMinor ? offPath(snapshot, hop) : undefined
  return stray === undefined ? waitingFor(question, catalog.head) : straying(stray, question)
}

function isLatest({ subscription }: OperatorRollSnapshot, { csv }: NamedCsv, head: string): boolean {
  const { installedCSV, state } = subscription.status ?? {}
  return state === 'AtLatestKnown' && installedCSV === csv && head === csv
}

function waitingFor(
  { snapshot: { subscription }, latest: { after, hop } }: Question,
  head: string,
): StepState {
  const { source = '', channel = '', name = '' } = subscription.spec ?? {}
  const on =
    after === undefined
      ? `catalog ${source} to offer a release for ${hop.minor}`
      : `OLM to resolve what comes after ${after.version}`
  return {
    is: 'waiting',
    on,
    trouble: `the head of channel ${channel} is ${head} now`,
    remedy: [`oc get packagemanifest ${name} -o yaml`],
  }
}

/** It blocks every later one (ocp 2.3 #3); kvup itself deletes none. */
function straying(csv: string, { snapshot, latest }: Question): StepState {
  const { hop, command } = latest
  const { name = '', namespace = '' } = snapshot.plan?.metadata ?? {}
  const path = (pathInHop(hop) ?? []).join(' → ')
  return {
    is: 'blocked',
    reason: 'plan-off-path',
    by: `InstallPlan ${name} would install ${csv}, which is not on the path (${path}): it may be a dead end, and OLM resolves nothing else while it waits`,
    remedy: [
      `oc -n ${namespace} delete installplan ${name}     lets OLM resolve again, to the present head of its channel`,
      makesCatalog(hop.minor),
      `${command} --catalog-file catalog.yaml     uses a later catalog with another path`,
      `${command} --accept operator-stranded     accepts whatever OLM resolves`,
    ],
  }
}

/** What the catalog of a Subscription says: the head of the channel that is set, or what has to be waited for before it counts. */
type CatalogNow = { is: 'answers'; head: string } | { is: 'waits'; state: StepState }

/**
 * An answer counts only from a pod of the catalog's present image that is ready, over a connection that is READY (night E4, ocp 2.6): what is not there, or
 * cannot be read, says nothing. Throws ApiError.
 */
export async function catalogNow(
  reader: Reader,
  subscription: Subscription,
  command: string,
): Promise<CatalogNow> {
  const { pack, source, namespace, channel } = askedOf(subscription)
  const offer = await takeLifecycle(reader, {
    namespace: subscription.metadata.namespace ?? '',
    packages: [pack],
    parts: ['catalogSources', 'packageManifests'],
  })
  const remedy = [
    `oc -n ${namespace} get catalogsource ${source} -o yaml`,
    `oc get packagemanifest ${pack} -o yaml`,
  ]
  const waits = (state: Waiting): CatalogNow => ({ is: 'waits', state: { ...state, remedy } })
  const catalog = itemsOf(offer.catalogSources).find(({ metadata }) => metadata.name === source)
  if (catalog === undefined) return waits(withoutCatalog(offer, source))
  const unready = notReady(catalog) ?? (await withoutPod(reader, catalog))
  if (unready !== undefined) return waits(unready)
  const head = headOf(offer, channel)
  if (head !== undefined) return { is: 'answers', head }
  const state = withoutHead(offer, { pack, channel })
  const file = `${command} --catalog-file catalog.yaml     gives kvup the releases without it`
  return { is: 'waits', state: { ...state, remedy: [...remedy, makesCatalog(), file] } }
}

function askedOf({ spec = {} }: Subscription) {
  const { name: pack = '', source = '', sourceNamespace: namespace = '', channel = '' } = spec
  return { pack, source, namespace, channel }
}

function withoutCatalog({ catalogSources }: LifecycleSnapshot, source: string): Waiting {
  const why = catalogSources.known ? 'there is none of that name' : catalogSources.why
  return { is: 'stalled', on: `catalog ${source}`, why }
}

function notReady({ metadata, status }: CatalogSource): Waiting | undefined {
  const state = status?.connectionState?.lastObservedState
  if (state === 'READY') return undefined
  return { is: 'waiting', on: `catalog ${metadata.name} to be READY, it is ${state ?? 'not connected'}` }
}

/** The connection outlives its pod for a while: an old one still answers READY. A catalog without an image is served by somebody else's pod. */
async function withoutPod(reader: Reader, { metadata, spec }: CatalogSource): Promise<Waiting | undefined> {
  const { name, namespace = '' } = metadata
  const image = spec?.image
  if (image === undefined) return undefined
  const pods = await known(reader.list(Pods, { namespace, labels: `olm.catalogSource=${name}` }))
  if (!pods.known)
    return { is: 'stalled', on: `the pod of catalog ${name}`, why: `whether it is new: ${pods.why}` }
  return pods.items.some((pod) => imagesOf(pod).includes(image) && isReady(pod))
    ? undefined
    : { is: 'waiting', on: `a ready pod of catalog ${name} with image ${image}` }
}

/** Where the content is unpacked by an init container, that one has the catalog's image. */
const imagesOf = ({ spec }: Pod): readonly (string | undefined)[] =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ image }) => image)

const isReady = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp === undefined && condition(pod, 'Ready')?.status === 'True'

function headOf({ packageManifests }: LifecycleSnapshot, channel: string): string | undefined {
  const channels = itemsOf(packageManifests).flatMap(({ status }) => status?.channels ?? [])
  return channels.find(({ name }) => name === channel)?.currentCSV
}

function withoutHead(
  { packageManifests }: LifecycleSnapshot,
  { pack, channel }: { pack: string; channel: string },
): Waiting {
  const why = packageManifests.known
    ? `no PackageManifest ${pack} of this catalog has a channel ${channel}`
    : packageManifests.why
  return { is: 'stalled', on: `what channel ${channel} has`, why }
}

/** A CSV and its version. */
export interface NamedCsv {
  csv: string
  version: string
}

/** Which releases of the operator belong to one hop. */
interface HopPath {
  /** Of the platform. */
  minor: string
  /** As the plan has it: from what was installed then to the end of the way, or as far as it is known. */
  path: readonly string[]
  releases: Pick<Releases, 'hyperconverged'>
}

/** The platform's minor that a CSV belongs to; undefined where no version or no row of the table tells. */
export function minorOfCsv(csv: string, releases: Pick<Releases, 'hyperconverged'>): string | undefined {
  const version = versionOfCsv(csv)
  return version && platformOfOperator(version, releases)
}

/** What the path has for this hop, the oldest first; undefined where nothing of the minor is known, and whatever OLM resolves in it will do. */
function pathInHop({ minor, path, releases }: HopPath): readonly string[] | undefined {
  const [, ...ahead] = path
  if (!path.some((csv) => minorOfCsv(csv, releases) === minor)) return undefined
  return [...path.slice(0, 1).filter((csv) => minorOfCsv(csv, releases) === minor), ...ahead].filter(
    (csv) => {
      const of = minorOfCsv(csv, releases)
      return of !== undefined && compareMinors(of, minor) <= 0
    },
  )
}

/**
 * What is installed, resolved or about to be, for this hop; the oldest first. Where the path is known, nothing else is among them but what is there already, by
 * whomever: it has to be seen through.
 */
export function csvsOnPath(snapshot: OperatorRollSnapshot, hop: HopPath): readonly NamedCsv[] {
  const inHop = pathInHop(hop)
  const fits = (csv: string) =>
    inHop?.includes(csv) === true ||
    (minorOfCsv(csv, hop.releases) === hop.minor && (inHop === undefined || isBegun(snapshot, csv)))
  return named(snapshot)
    .filter(fits)
    .flatMap((csv) => {
      const version = versionOfCsv(csv)
      return version === undefined ? [] : [{ csv, version }]
    })
    .toSorted((a, b) => compareOperatorVersions(a.version, b.version))
    .map(({ csv, version }: { csv: string; version: OperatorVersion }) => ({ csv, version: version.text }))
}

/** The release of the same operator that the InstallPlan would install, though it is not on the path; undefined where none waits. */
function offPath(snapshot: OperatorRollSnapshot, hop: HopPath): string | undefined {
  const inHop = pathInHop(hop)
  const { plan } = snapshot
  if (inHop === undefined || plan === undefined || plan.status?.phase === 'Complete') return undefined
  const own = ownIn(snapshot).find((csv) => plan.spec?.clusterServiceVersionNames?.includes(csv))
  return own !== undefined && !inHop.includes(own) && !isBegun(snapshot, own) ? own : undefined
}

/** Of this operator, whoever names them. */
function named(snapshot: OperatorRollSnapshot): readonly string[] {
  const { installedCSV = '', currentCSV = '' } = snapshot.subscription.status ?? {}
  return [...new Set([installedCSV, currentCSV, ...ownIn(snapshot)])].filter((csv) => csv !== '')
}

function ownIn({ subscription, plan }: OperatorRollSnapshot): readonly string[] {
  const { installedCSV = '', currentCSV = '' } = subscription.status ?? {}
  const stem = stemOf(installedCSV || currentCSV)
  return (plan?.spec?.clusterServiceVersionNames ?? []).filter((csv) => stemOf(csv) === stem)
}

/** Its CSV is there, or its InstallPlan is approved. */
const isBegun = ({ subscription, csvs, plan }: OperatorRollSnapshot, csv: string): boolean =>
  subscription.status?.installedCSV === csv ||
  csvs.some(({ metadata }) => metadata.name === csv) ||
  (plan?.spec?.approved === true && plan.spec.clusterServiceVersionNames?.includes(csv) === true)
