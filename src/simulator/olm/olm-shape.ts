import table from './catalogs.json' with { type: 'json' }
import type { HyperConvergedShape } from '../hyperconverged/hyperconverged-crd.ts'

/** OLM in a cluster, and HyperConverged as what it installed (ocp 2). */
export interface OlmShape {
  /** The operator's, in which Subscription, OperatorGroup and KubeVirt are. */
  namespace: string
  package: string
  /** The Subscription's name; default `hco-operatorhub`. */
  subscription?: string
  channel: string
  approval: Approval
  /** The CatalogSource. */
  source: string
  sourceNamespace: string
  /** Version of the operator that is installed: one of the entries'. */
  installed: string
  /** The first is the package's default. */
  channels: readonly ChannelShape[]
  /** Operators that other Subscriptions installed, in the same namespace where nothing else is said. */
  others?: readonly OtherSubscription[]
  /** What the steps of a plan say: which ConfigMap has the objects, as they do where bundles are images, or the objects themselves; default the former. */
  manifests?: 'inline' | 'referenced'
  /** Default `quay.io/kubevirt`: where virt-operator's image is. */
  registry?: string
}

export type Approval = 'Manual' | 'Automatic'

export interface ChannelShape {
  name: string
  entries: readonly BundleShape[]
}

/** An entry of a channel, as a file-based catalog has it. */
export interface EntryShape {
  /** Of the CSV. */
  name: string
  version: string
  replaces?: string
  skips?: readonly string[]
  /** `>=4.17.0 <4.18.0`. */
  skipRange?: string
  /** Platform minor, `4.19`, from which on the catalog shows it; default always. */
  since?: string
  /** The last platform minor whose catalog shows it; default all. */
  until?: string
  /** The last platform minor on which it may stay (ocp 2.8). */
  maxOpenShiftVersion?: string
}

/** A release of HyperConverged. */
export interface BundleShape extends EntryShape {
  /** The version of KubeVirt that it brings: `v1.4.0`. */
  kubevirt: string
  /** Which versions its CRD stores and serves. */
  crd: HyperConvergedShape
}

interface OtherSubscription {
  /** Its name is that of the package. */
  package: string
  channel: string
  approval: Approval
  installed: string
  entries: readonly EntryShape[]
  /** Default that of HyperConverged. */
  namespace?: string
}

type Table = Record<'okd' | 'ocp', { shape: Omit<OlmShape, 'channels'>; entries: readonly BundleShape[] }>

/** Which versions of its CR a release stores and serves: ocp 1.2. `since` is the platform's minor that a release belongs to. */
const { okd, ocp } = table as Table

/**
 * HyperConverged on OKD from a catalog with a channel for each minor (ocp 1.1), as `opm alpha render-template semver` makes it: the release of the minor before is named
 * in `replaces` and is no entry (that heads skip all older ones as well is left out). Nothing bounds the platform.
 */
export function okdOlm(more: Partial<OlmShape> = {}): OlmShape {
  const channels = okd.entries.map(({ since: _since, ...entry }) => ({
    name: `stable-v${entry.version.replace(/\.\d+$/u, '')}`,
    entries: [entry],
  }))
  return { ...okd.shape, channels: channels.toReversed(), ...more }
}

/**
 * The same as community-operators publishes it (kubevirt/hyperconverged-cluster-operator automation/publisher): one channel, in which the releases of a minor appear with
 * the platform's, 1.y with 4.(y+4).
 */
export const okdStableOlm = (more: Partial<OlmShape> = {}): OlmShape =>
  okdOlm({ channel: 'stable', channels: [{ name: 'stable', entries: okd.entries }], ...more })

/**
 * OpenShift Virtualization from 4.18 to 4.20 (ocp 1.1): one channel, in which the releases of a minor appear with the platform's; each
 * bounds the platform (ocp 2.8).
 */
export const ocpOlm = (more: Partial<OlmShape> = {}): OlmShape => ({
  ...ocp.shape,
  channels: [{ name: 'stable', entries: ocp.entries }],
  ...more,
})

/** The same with a trap (ocp 9.15): the newest release of the odd minor has no edge to the next minor, only the one before it. */
export function strandingOlm(more: Partial<OlmShape> = {}): OlmShape {
  const shape = ocpOlm(more)
  const entries = (shape.channels[0]?.entries ?? []).map((entry) => trapped(entry))
  return { ...shape, channels: [{ name: 'stable', entries }] }
}

function trapped(entry: BundleShape): BundleShape {
  if (entry.version === '4.19.8') return { ...entry, until: '4.19' }
  if (entry.version !== '4.20.1') return entry
  const { skips: _skips, ...rest } = entry
  return rest
}
