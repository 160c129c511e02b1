import type { Override } from '../../../src/lib/engine/journal.ts'
import type { RunEvent } from '../../../src/lib/engine/step.ts'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import {
  type HyperConverged,
  HyperConvergeds,
  Subscriptions,
} from '../../../src/lib/kube/kinds/operator-kinds.ts'
import {
  ClusterVersions,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../src/lib/kube/object.ts'
import type { Ended, Stage, Terminal } from '../stage.ts'
import { eusRunOn, platformOf, serveFiles } from './window-stage.ts'
import type { EusRunOptions } from '../../../src/lib/eus/run/window-run.ts'

/** The platform turns every request for another minor down, and says so beforehand: for one that is turned down, set it once that was requested. */
export const refusing = {
  notUpgradeable: [{ operator: 'storage', reason: 'Broken', message: 'a disk is broken' }],
}

/** HyperConverged is Degraded by it, and Upgradeable=False. */
export const cdiDegraded = {
  components: [{ component: 'CDI', is: 'degraded', message: 'cdi is broken' }],
} as const

/** Acts once, when that step is done (or applied). */
export const after =
  (id: string, act: () => void, kind: RunEvent['kind'] = 'step-done') =>
  (event: RunEvent): void => {
    if (event.kind === kind && 'step' in event && event.step?.id === id) act()
  }

export const loanIds = async (stage: Stage): Promise<readonly Override['id'][]> =>
  (await stage.journal.overrides()).map(({ id }) => id)

export const writesTo = (stage: Stage, resource: string, mark = 0) =>
  stage.writes(mark).filter((one) => one.resource === resource)

export function hyperConverged(stage: Stage): HyperConverged {
  const [hco] = stage.simulated.store.list(HyperConvergeds).items
  if (hco === undefined) throw new Error('no HyperConverged')
  return hco
}

export const conditionOf = (stage: Stage, type: string): string | undefined =>
  condition(hyperConverged(stage), type)?.status

/** Of status.versions[operator]. */
export const operatorVersion = (stage: Stage): string | undefined =>
  hyperConverged(stage).status?.versions?.find(({ name }) => name === 'operator')?.version

/** By somebody else. */
export const setMethods = (stage: Stage, workloadUpdateMethods: readonly string[]) =>
  stage.cluster.writer.mergePatch(HyperConvergeds, hyperConverged(stage).metadata, {
    spec: { workloadUpdateStrategy: { workloadUpdateMethods } },
  } as object)

export const patchPlatform = (stage: Stage, spec: object) =>
  stage.cluster.writer.mergePatch(ClusterVersions, { name: 'version' }, { spec } as object)

export const patchWorkers = (stage: Stage, spec: object) =>
  stage.cluster.writer.mergePatch(MachineConfigPools, { name: 'worker' }, { spec } as object)

export const deleteJournal = (stage: Stage) =>
  stage.cluster.writer.delete(ConfigMaps, { name: 'kvup-journal', namespace: stage.home })

/** As availableUpdates has it. */
export function offered(stage: Stage, version: string) {
  const found = platformOf(stage).status?.availableUpdates?.find((one) => one.version === version)
  if (found === undefined) throw new Error(`${version} is not offered`)
  return found
}

export function seal(stage: Stage): Promise<Ended> {
  serveFiles(stage)
  const options = { accept: [], graphFile: 'graph.json', catalogFile: 'catalog.yaml', toFile: 'plan.yaml' }
  return stage.perform((cx) => planEus(cx, options), { commandLine: 'kvup eus plan' })
}

/** The file alone: flags of the plan are its own. */
export const sealedRun = (
  stage: Stage,
  options: Partial<EusRunOptions> = {},
  terminal: Terminal = {},
): Promise<Ended> =>
  eusRunOn(
    stage,
    Object.assign({ plan: 'plan.yaml' }, options, { graphFile: undefined, catalogFile: undefined }),
    terminal,
  )

/** As who writes all annotations from a repository does: the notes of former values are gone from every object. */
export function takeNotesOff({ simulated: { store } }: Stage): void {
  const kinds = [ClusterVersions, MachineConfigPools, MachineHealthChecks, NodeHealthChecks, Subscriptions]
  const hyperconverged = store.kinds.all().filter(({ plural }) => plural === HyperConvergeds.plural)
  for (const kind of [...kinds, ...hyperconverged])
    for (const { metadata } of store.list(kind).items) {
      const notes = Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith('kvup.io/saved-'))
      const annotations = Object.fromEntries(notes.map((key) => [key, null]))
      if (notes.length > 0)
        store.patch(kind, metadata, { type: 'merge', body: { metadata: { annotations } } })
    }
}

/** Journal and notes are gone: nothing but the settings themselves is left. */
export async function forget(stage: Stage): Promise<void> {
  await deleteJournal(stage)
  takeNotesOff(stage)
}
