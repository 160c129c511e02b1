import type { Deployment } from '../../cluster/kinds/apps.ts'
import type { Container, PodTemplate } from '../../cluster/kinds/pods.ts'
import { operatorManifest } from '../virt-operator/operator-manifest.ts'
import type { BundleShape, EntryShape, OlmShape } from './shape.ts'

/** A Deployment as a CSV carries it. */
export interface CarriedDeployment {
  name: string
  label: Record<string, string>
  spec: NonNullable<Deployment['spec']>
}

/** The other operators that a release of HyperConverged brings along (ocp 1.1), those that have operands here. */
const others = [
  'cluster-network-addons-operator',
  'ssp-operator',
  'cdi-operator',
  'hostpath-provisioner-operator',
]

/** What a release of HyperConverged installs; the operands come later, and not by OLM. */
export function hyperConvergedDeployments(bundle: BundleShape, shape: OlmShape): CarriedDeployment[] {
  return [
    carried('hco-operator', 'hyperconverged-cluster-operator', bundle),
    carried('hco-webhook', 'hyperconverged-cluster-webhook', bundle),
    virtOperator(bundle, shape),
    ...others.map((name) => carried(name, name, bundle)),
  ]
}

/** What the release of another operator installs. */
export function otherDeployments(name: string, { version }: EntryShape): CarriedDeployment[] {
  const image = `registry.example.com/${name}/controller:v${version}`
  const label = { name: `${name}-controller` }
  return [carriedAs(`${name}-controller`, label, { name: 'manager', image, command: ['manager'] })]
}

function carried(name: string, called: string, { version, kubevirt }: BundleShape): CarriedDeployment {
  const env = [
    { name: 'HCO_KV_IO_VERSION', value: version },
    { name: 'KUBEVIRT_VERSION', value: kubevirt },
  ]
  const image = `quay.io/kubevirt/${called}:${version}`
  return carriedAs(name, { name: called }, { name: called, image, command: [called], env })
}

function carriedAs(name: string, label: Record<string, string>, container: Container): CarriedDeployment {
  const template: PodTemplate = { metadata: { labels: label }, spec: { containers: [container] } }
  const selector = { matchLabels: label }
  return { name, label, spec: { replicas: 1, selector, strategy: { type: 'RollingUpdate' }, template } }
}

/** As in the release's own manifest. */
function virtOperator({ kubevirt }: BundleShape, { registry }: OlmShape): CarriedDeployment {
  const objects = operatorManifest(kubevirt, registry === undefined ? {} : { registry })
  const { metadata, spec = {} } = objects.find(({ kind }) => kind === 'Deployment') as Deployment
  return { name: metadata.name, label: metadata.labels ?? {}, spec }
}
