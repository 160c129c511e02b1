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

/** What of its CR a release of HyperConverged serves and stores (ocp 1.2). */
const crdUntil117: HyperConvergedShape = { stored: 'v1beta1', served: ['v1beta1'], conversion: 'None' }
const crdOf118: HyperConvergedShape = { stored: 'v1beta1', served: ['v1', 'v1beta1'], conversion: 'Webhook' }
const crdSince119: HyperConvergedShape = { stored: 'v1', served: ['v1', 'v1beta1'], conversion: 'Webhook' }

type Row = [
  version: string,
  kubevirt: string,
  more: Omit<Partial<BundleShape>, 'replaces'> & { replaces?: string },
]

const csv = (version: string): string => `kubevirt-hyperconverged-operator.v${version}`

function bundle([version, kubevirt, more]: Row, crd: HyperConvergedShape): BundleShape {
  const { replaces, ...rest } = more
  return {
    name: csv(version),
    version,
    kubevirt,
    crd,
    ...rest,
    ...(replaces !== undefined && { replaces: csv(replaces) }),
  }
}

const from = (minor: string, limit: string): Pick<BundleShape, 'since' | 'maxOpenShiftVersion'> => ({
  since: minor,
  maxOpenShiftVersion: limit,
})

/** Each replaces the one before; `minor` of the platform is what it belongs to. */
const upstream = [
  { minor: '4.19', row: ['1.15.2', 'v1.5.2', {}], crd: crdUntil117 },
  { minor: '4.20', row: ['1.16.0', 'v1.6.2', { replaces: '1.15.2' }], crd: crdUntil117 },
  { minor: '4.21', row: ['1.17.3', 'v1.7.4', { replaces: '1.16.0' }], crd: crdUntil117 },
  { minor: '4.22', row: ['1.18.1', 'v1.8.4', { replaces: '1.17.3' }], crd: crdOf118 },
  { minor: '4.23', row: ['1.19.0', 'v1.9.0', { replaces: '1.18.1' }], crd: crdSince119 },
] as const satisfies readonly { minor: string; row: Row; crd: HyperConvergedShape }[]

/**
 * HyperConverged on OKD from a catalog with a channel for each minor (ocp 1.1), as `opm alpha render-template semver` makes it: the release of the minor before is named
 * in `replaces` and is no entry (that heads skip all older ones as well is left out). Nothing bounds the platform.
 */
export function okdOlm(more: Partial<OlmShape> = {}): OlmShape {
  const channels = upstream.map(({ row, crd }) => ({
    name: `stable-v${row[0].replace(/\.\d+$/u, '')}`,
    entries: [bundle([...row], crd)],
  }))
  return {
    namespace: 'kubevirt-hyperconverged',
    package: 'community-kubevirt-hyperconverged',
    channel: 'stable-v1.17',
    approval: 'Manual',
    source: 'community-operators',
    sourceNamespace: 'openshift-marketplace',
    installed: '1.17.3',
    channels: channels.toReversed(),
    ...more,
  }
}

/**
 * The same as community-operators publishes it (kubevirt/hyperconverged-cluster-operator automation/publisher): one channel, in which the releases of a minor appear with
 * the platform's, 1.y with 4.(y+4).
 */
export function okdStableOlm(more: Partial<OlmShape> = {}): OlmShape {
  const entries = upstream.map(({ minor, row: [version, kubevirt, edges], crd }) =>
    bundle([version, kubevirt, { ...edges, since: minor }], crd),
  )
  return okdOlm({ channel: 'stable', channels: [{ name: 'stable', entries }], ...more })
}

/**
 * OpenShift Virtualization from 4.18 to 4.20 (ocp 1.1): one channel, in which the releases of a minor appear with the platform's; each
 * bounds the platform (ocp 2.8).
 */
export function ocpOlm(more: Partial<OlmShape> = {}): OlmShape {
  const rows: Row[] = [
    ['4.18.9', 'v1.4.0', from('4.18', '4.19')],
    ['4.18.13', 'v1.4.1', { ...from('4.18', '4.19'), replaces: '4.18.9' }],
    ['4.19.5', 'v1.5.2', { ...from('4.19', '4.20'), replaces: '4.18.13', skips: [csv('4.18.9')] }],
    ['4.19.8', 'v1.5.3', { ...from('4.19', '4.20'), replaces: '4.19.5' }],
    ['4.20.1', 'v1.6.2', { ...from('4.20', '4.21'), replaces: '4.19.5', skips: [csv('4.19.8')] }],
  ]
  return {
    namespace: 'openshift-cnv',
    package: 'kubevirt-hyperconverged',
    channel: 'stable',
    approval: 'Manual',
    source: 'redhat-operators',
    sourceNamespace: 'openshift-marketplace',
    installed: '4.18.13',
    channels: [{ name: 'stable', entries: rows.map((row) => bundle(row, crdUntil117)) }],
    ...more,
  }
}

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
