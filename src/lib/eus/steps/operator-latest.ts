import { itemsOf } from '../../facts/known.ts'
import { type LifecycleSnapshot, takeLifecycle } from '../../facts/operator-lifecycle/take-lifecycle.ts'
import type { Reader } from '../../cluster/cluster.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { lookAtOperator, type OperatorScene, sceneFollows } from '../../upgrade/olm/operator-scene.ts'
import { hours, minutes, seconds } from '../../system/units.ts'
import type { NamedCsv, OperatorPart } from './operator-part.ts'

interface Latest {
  /** The last release that is known; undefined where none of this minor is yet. */
  after: NamedCsv | undefined
  csvsIn(scene: OperatorScene): readonly NamedCsv[]
}

/**
 * Done once there is a later release to go to, or the catalog of this minor is READY and has none (night E4): "the latest that is known" says nothing before
 * the catalog itself was replaced, which takes up to 15 minutes (ocp 2.1).
 */
export function operatorLatest(part: OperatorPart, latest: Latest): Step {
  const { subscription } = part.operator
  const behind = latest.after === undefined ? '' : `-after-${latest.after.version}`
  return {
    id: `operator-releases-${part.minor}${behind}`,
    title: `releases of virtualization for ${part.minor}`,
    patience: { every: 15 * seconds, atMost: 2 * hours },
    estimate: 10 * minutes,
    follows: sceneFollows({ subscription }),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader }: ReadContext): Promise<StepState> {
      const scene = await lookAtOperator(reader, { subscription })
      const last = latest.csvsIn(scene).at(-1)
      if (last !== undefined && last.csv !== latest.after?.csv)
        return { is: 'done', note: `${last.version} is next` }
      const wanted = part.stops.findLast(({ version }) => version !== undefined)?.version
      if (wanted !== undefined && wanted === latest.after?.version)
        return { is: 'done', note: `${wanted}, as planned` }
      return noneLeft({ scene, part, after: latest.after, offer: await offerOf(reader, part) })
    },
  }
}

const offerOf = (reader: Reader, { operator: { subscription, package: pack } }: OperatorPart) =>
  takeLifecycle(reader, {
    namespace: subscription.namespace,
    packages: [pack],
    parts: ['catalogSources', 'packageManifests'],
  })

interface Question {
  scene: OperatorScene
  part: OperatorPart
  after: NamedCsv | undefined
  offer: LifecycleSnapshot
}

function noneLeft(question: Question): StepState {
  const { scene, part, after, offer } = question
  const { source = '', sourceNamespace = '', channel } = scene.subscription.spec ?? {}
  const remedy = [
    `oc -n ${sourceNamespace} get catalogsource ${source} -o yaml`,
    `oc get packagemanifest ${part.operator.package} -o yaml`,
  ]
  const unready = notReady(offer)
  if (unready !== undefined) return { is: 'waiting', on: unready, remedy }
  const head = headOf(offer, channel)
  const end = endOf(question, head)
  if (end !== undefined) return { is: 'done', note: end }
  const trouble = head === undefined ? {} : { trouble: `the head of channel ${channel ?? ''} is ${head} now` }
  const on =
    after === undefined
      ? `catalog ${source} to offer a release for ${part.minor}`
      : `OLM to resolve what comes after ${after.version}`
  return { is: 'waiting', on, ...trouble, remedy }
}

function notReady({ catalogSources }: LifecycleSnapshot): string | undefined {
  const [catalog] = itemsOf(catalogSources)
  const state = catalog?.status?.connectionState?.lastObservedState
  if (catalog === undefined || state === 'READY') return undefined
  return `catalog ${catalog.metadata.name} to be READY, it is ${state ?? 'not connected'}`
}

/** Why there is nothing after it; undefined while there may be. */
function endOf({ scene, after }: Question, head: string | undefined): string | undefined {
  if (after === undefined || !isQuiet(scene)) return undefined
  if (scene.subscription.status?.installedCSV !== after.csv) return undefined
  if (head === undefined)
    return `${after.version}, by what the Subscription says: there is no PackageManifest`
  return head === after.csv ? `${after.version} is the latest` : undefined
}

const isQuiet = ({ subscription }: OperatorScene): boolean => subscription.status?.state === 'AtLatestKnown'

function headOf({ packageManifests }: LifecycleSnapshot, channel: string | undefined): string | undefined {
  const channels = itemsOf(packageManifests).flatMap(({ status }) => status?.channels ?? [])
  return channels.find(({ name }) => name === channel)?.currentCSV
}
