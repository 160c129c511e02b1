import { onTestFinished } from 'vitest'
import type { Clock } from '../../../src/lib/kube/clock.ts'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { ClusterOperators, ClusterVersions } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { plainKinds } from '../../../src/simulator/api/kinds/built-in-kinds.ts'
import { custom } from '../../../src/simulator/api/kinds/sim-kind.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { ensureNamespace, seed, Store } from '../../../src/simulator/api/store.ts'
import { seeded } from '../../../src/simulator/machinery/controller.ts'
import { Faults, type MachineryFaults } from '../../../src/simulator/machinery/machinery-faults.ts'
import {
  ocpOlm,
  okdOlm,
  okdStableOlm,
  type OlmShape,
  strandingOlm,
} from '../../../src/simulator/olm/olm-shape.ts'
import { serveReleaseVersion } from '../../../src/simulator/openshift/cluster-operators.ts'
import { openShiftKinds, openShiftObjects } from '../../../src/simulator/openshift/openshift-objects.ts'
import { ocp418to420, okd419, type OpenShiftShape } from '../../../src/simulator/openshift/openshift-shape.ts'
import { runOpenShift } from '../../../src/simulator/openshift/openshift.ts'
import type { OpenShiftFaults } from '../../../src/simulator/openshift/platform-context.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { runMachinery, simulate, type Simulation } from '../../../src/simulator/simulated-cluster.ts'
import { serveVirtApi } from '../../../src/simulator/virt-operator/virt-api.ts'
import { clusterByOlm } from './hyperconverged/by-olm.ts'
import { animate } from './machinery/animate.ts'
import { lifecycle } from './olm/lifecycle.ts'

/** A settled cluster of which a story is told. */
export interface World {
  on: 'api' | 'platform' | 'olm' | 'hyperconverged' | 'machinery' | 'kubevirt'
  shape?: object
  /** Catalogs, and releases of operators in them. */
  olm?: Partial<OlmShape> & { like?: keyof typeof olmShapes }
  /** The version of a platform that has been there for long and does nothing. */
  platform?: string
  objects?: readonly KubeObject[]
  faults?: object
}

export interface Opened extends Cluster {
  store: Store
  clock: Clock
  faults: { set: (on: object) => void }
  operatorManifest?: (version: string) => readonly KubeObject[]
}

const oneChannel = () => {
  const all = new Map(okdOlm().channels.flatMap(({ entries }) => entries.map((e) => [e.name, e])))
  return okdOlm({ channel: 'all', channels: [{ name: 'all', entries: [...all.values()] }] })
}
const olmShapes = { okd: okdOlm, okdStable: okdStableOlm, ocp: ocpOlm, stranding: strandingOlm, oneChannel }
const olmOf = ({ like = 'okd', ...more }: World['olm'] = {}): OlmShape => ({ ...olmShapes[like](), ...more })

const openShifts = { ocp: ocp418to420, okd: okd419 }

/** A server and nobody behind it; `plain` has no custom kinds. */
async function openApi({ shape, objects = [] }: World): Promise<Opened> {
  const clock = new SimClock()
  const store = new Store(clock, { podTermination: 500, ...(shape && { kinds: plainKinds }) })
  ensureNamespace(store, 'a')
  seed(store, objects)
  return { ...storeCluster(store), store, clock, faults: new Faults() }
}

const opening: Record<World['on'], (world: World) => Promise<Opened>> = {
  api: openApi,
  platform: openPlatform,
  olm: ({ olm, platform }) => lifecycle(olmOf(olm), platform === undefined ? {} : oldPlatform(platform)),
  hyperconverged: ({ olm, shape }) => clusterByOlm({ olm: olmOf(olm), ...shape }),
  machinery: async ({ objects = [], faults = {} }) => animate(objects, faults),
  kubevirt: ({ shape, faults = {} }) => openKubeVirt({ ...shape, faults }),
}

export const openWorld = (world: World): Promise<Opened> => opening[world.on](world)

function oldPlatform(version: string) {
  const { apiVersion } = ClusterVersions
  const operator = (name: string): KubeObject =>
    ({
      apiVersion,
      kind: 'ClusterOperator',
      metadata: { name },
      status: { versions: [{ name: 'operator', version }], conditions: [] },
    }) as KubeObject
  const status = { desired: { version }, history: [{ state: 'Completed', version }] }
  const objects = [
    { apiVersion, kind: 'ClusterVersion', metadata: { name: 'version' }, status } as KubeObject,
    operator('marketplace'),
    operator('operator-lifecycle-manager'),
  ]
  return { kinds: [custom(ClusterVersions), custom(ClusterOperators)], objects }
}

async function openKubeVirt({
  openshift,
  ...shape
}: Partial<Simulation> & { openshift?: object }): Promise<Opened> {
  const clock = new SimClock()
  const on = openshift && { openshift: { ...ocp418to420, ...openshift } }
  const simulated = await simulate({ clock, ...shape, ...on })
  onTestFinished(() => simulated.stop())
  if (openshift) await clock.sleep(60_000)
  return { ...simulated, ...simulated.cluster(), clock }
}

/** Without any KubeVirt, with the machines of its topology where one is said, settled for two minutes. */
async function openPlatform({ shape: change = {}, objects = [], faults: on = {} }: World): Promise<Opened> {
  const {
    like = 'ocp',
    evictions,
    ...said
  } = change as Partial<OpenShiftShape> & {
    like?: keyof typeof openShifts
    evictions?: true
  }
  const { pools: _, ...bare } = ocp418to420
  const shape = { ...(said.topology === undefined ? openShifts[like] : bare), ...said }
  const clock = new SimClock()
  const store = new Store(clock)
  for (const kind of openShiftKinds(shape)) store.kinds.add(kind)
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
  seed(store, [home, ...openShiftObjects(shape), ...objects])
  serveReleaseVersion(store, shape)
  if (evictions) serveVirtApi(store)
  const faults = new Faults<MachineryFaults & OpenShiftFaults>(on)
  const { reader, writer } = storeCluster(store, { fieldManager: 'platform' })
  const end = new AbortController()
  const bugs: unknown[] = []
  const broken = (error: unknown) => bugs.push(error)
  const cx = { reader, writer, clock, random: seeded(7), signal: end.signal }
  const running = Promise.all([
    runMachinery(cx, { faults, programOf: () => undefined, broken }),
    runOpenShift(cx, shape, faults).catch(broken),
  ])
  onTestFinished(async () => {
    end.abort()
    await running
    if (bugs.length > 0) throw bugs[0]
  })
  await clock.sleep(120_000)
  return { ...storeCluster(store), store, clock, faults }
}
