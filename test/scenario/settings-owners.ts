import { atVersion, type KubeObject } from '../../src/lib/kube/object.ts'
import { type HyperConverged, HyperConvergeds } from '../../src/lib/kube/kinds/operator-kinds.ts'
import type { Simulation } from '../../src/simulator/simulated-cluster.ts'
import { byTag, type Stage } from './stage.ts'

const shape = {
  ...byTag,
  version: 'v1.8.4',
  method: 'operator-manifest',
} as const satisfies Partial<Simulation>

/** A cluster whose methods are `[Evict, LiveMigrate]`, in this order. */
interface OwnedCluster {
  name: string
  shape: Omit<Simulation, 'clock'>
  kind: string
  /** Of the version that is stored. */
  apiVersion: string
}

const methods = ['Evict', 'LiveMigrate']

const hyperconverged = (
  name: string,
  { stored, served, conversion }: NonNullable<Simulation['hyperconverged']>,
): OwnedCluster => ({
  name,
  shape: { ...shape, methods, hyperconverged: { stored, served, conversion } },
  kind: 'HyperConverged',
  apiVersion: `hco.kubevirt.io/${stored}`,
})

export const plain: OwnedCluster = {
  name: 'KubeVirt',
  shape: { ...shape, methods },
  kind: 'KubeVirt',
  apiVersion: 'kubevirt.io/v1',
}

/** Where nobody converts, a write through the wrong version would lose what is kept: the hardest case. */
export const owners: readonly OwnedCluster[] = [
  plain,
  hyperconverged('HyperConverged v1beta1 alone', {
    stored: 'v1beta1',
    served: ['v1beta1'],
    conversion: 'None',
  }),
  hyperconverged('HyperConverged v1beta1 stored, v1 preferred', {
    stored: 'v1beta1',
    served: ['v1', 'v1beta1'],
    conversion: 'None',
  }),
  hyperconverged('HyperConverged v1 stored', { stored: 'v1', served: ['v1', 'v1beta1'], conversion: 'None' }),
]

export const hyperConvergeds = owners.slice(1)

/** What is really stored, read past kvup. */
export function storedOwner({ simulated, kubevirt }: Stage): KubeObject & { spec: Record<string, unknown> } {
  const { store } = simulated
  const kind = store.kinds.all().find(({ plural }) => plural === HyperConvergeds.plural)
  const [found] = kind === undefined ? [kubevirt] : store.list(kind).items
  if (found === undefined) throw new Error('no owner')
  return found as KubeObject & { spec: Record<string, unknown> }
}

/** `workloadUpdateMethods` as it is stored on the owner, as JSON: `undefined` where there is none. */
export function storedMethods(stage: Stage): string | undefined {
  const { spec } = storedOwner(stage)
  const place = (spec['virtualization'] ?? spec) as Record<string, unknown>
  const strategy = place['workloadUpdateStrategy'] as Record<string, unknown> | undefined
  return JSON.stringify(strategy?.['workloadUpdateMethods'])
}

/** As a person would, in the version that is stored. */
export function editMethods(stage: Stage, workloadUpdateMethods: readonly string[]): void {
  const owner = storedOwner(stage) as HyperConverged
  if (owner.kind === 'KubeVirt') return stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods } })
  const fields = { workloadUpdateStrategy: { workloadUpdateMethods } }
  const spec = owner.apiVersion.endsWith('/v1') ? { virtualization: fields } : fields
  const kind = atVersion(HyperConvergeds, owner.apiVersion.split('/')[1] ?? '')
  stage.simulated.store.patch(
    kind,
    owner.metadata,
    { type: 'merge', body: { spec } },
    { manager: 'kubectl-edit' },
  )
}
