import type { PackageChannelHead } from './olm-status.ts'

/** Of one layer: `Waiting` for somebody who has to do something; `Unknown` where it may not be read or was not saved. */
export type LayerVerdict = 'Settled' | 'Updating' | 'Waiting' | 'Stalled' | 'Degraded' | 'Unknown'

/** One thing that those below it depend on. */
export interface Layer {
  layer:
    | 'platform'
    | 'operators'
    | 'pool'
    | 'catalog'
    | 'operator-group'
    | 'subscription'
    | 'install-plan'
    | 'csv'
    | 'hyperconverged'
    | 'kubevirt'
    | 'vms'
  /** As kubectl names it, `machineconfigpool/worker`. */
  object?: string
  verdict: LayerVerdict
  /** How it stands, in a few words. */
  says: string
  /** What has to happen before it is settled. */
  waitsFor?: string
  /** Why a verdict that is not Settled is as it should be here: then nobody has to do anything. */
  expected?: string
  /** RFC 3339. */
  since?: string
  /** What else is to be known, a line each. */
  notes?: readonly string[]
  /** Commands that help. */
  help?: readonly string[]
  /** Of the package that a Subscription installs, as its catalog shows it; a person sees them with `-o wide`. */
  channels?: readonly PackageChannelHead[]
}

/** With how it is called: `pool worker`, `HyperConverged`. */
export interface TitledLayer extends Layer {
  title: string
}

/** The verdict over all layers, and which of them it is from. */
export interface Overall {
  verdict: Exclude<LayerVerdict, 'Unknown'>
  /** Of the first layer, in the order in which they depend on one another, that has this verdict. Absent where all are settled. */
  because?: string
}

const severity = ['Settled', 'Updating', 'Waiting', 'Stalled', 'Degraded'] as const

/** The worst of them; what is expected is no worse than Updating, and what is not known is not judged. */
export function overallOf(layers: readonly TitledLayer[]): Overall {
  const judged = layers.flatMap((layer) => {
    const verdict = counted(layer)
    return verdict === undefined ? [] : [{ layer, verdict }]
  })
  const worst = judged.reduce(
    (most, { verdict }) => (severity.indexOf(verdict) > severity.indexOf(most) ? verdict : most),
    'Settled' as Overall['verdict'],
  )
  const first = judged.find(({ verdict }) => verdict === worst)?.layer
  return worst === 'Settled' || !first
    ? { verdict: worst }
    : { verdict: worst, because: `${first.title}: ${first.says}` }
}

function counted({ verdict, expected }: Layer): Overall['verdict'] | undefined {
  if (verdict === 'Unknown') return undefined
  return expected === undefined || verdict === 'Settled' ? verdict : 'Updating'
}

const titles: Record<Layer['layer'], string> = {
  platform: 'platform',
  operators: 'operators',
  pool: 'pool',
  catalog: 'catalog',
  'operator-group': 'OperatorGroup',
  subscription: 'Subscription',
  'install-plan': 'InstallPlan',
  csv: 'CSV',
  hyperconverged: 'HyperConverged',
  kubevirt: 'KubeVirt',
  vms: 'VMs',
}

/** Of kinds that there may be several of with the name. */
export function titled(layer: Layer): TitledLayer {
  const name = layer.object?.slice(layer.object.indexOf('/') + 1)
  const of = layer.layer === 'pool' && name !== undefined ? ` ${name}` : ''
  return { title: `${titles[layer.layer]}${of}`, ...layer }
}
