import { Namespaces, type Node } from '../lib/kube/kinds/core-kinds.ts'
import { type KubeVirt, KubeVirts } from '../lib/kube/kinds/kubevirt-kinds.ts'
import type { KubeObject } from '../lib/kube/object.ts'
import { componentKinds } from './hyperconverged/hyperconverged-components.ts'
import {
  hyperConvergedDefinition,
  hyperConvergedKind,
  hyperConvergedObject,
  type HyperConvergedShape,
  ownedByHyperConverged,
} from './hyperconverged/hyperconverged-crd.ts'
import { installedBundle, olmKinds, olmObjects } from './olm/olm-objects.ts'
import type { OlmShape } from './olm/olm-shape.ts'
import { machineNode, openShiftKinds, openShiftObjects } from './openshift/openshift-objects.ts'
import type { OpenShiftShape } from './openshift/openshift-shape.ts'
import { type ManifestOptions, operatorManifest } from './virt-operator/kubevirt-operator-manifest.ts'
import { defaultVms, virtualMachine, type VmShape } from './vm-shape.ts'
import type { SimKind } from './api/kinds/sim-kind.ts'
import { made } from './machinery/controller.ts'
import table from './cluster-parts.json' with { type: 'json' }

/** What is in a cluster before anything happens. */
export interface ClusterShape {
  /** KubeVirt's version; default v1.7.0. */
  version?: string
  /** It was installed as that version and is updated since, by its operator's manifest: VMs run on that one's virt-launcher. */
  updatedFrom?: string
  /** virt-operator's version; default KubeVirt's. */
  operator?: string
  /** `image-tag`: the CR says which version; `operator-manifest` (default): the operator's own. */
  method?: 'image-tag' | 'operator-manifest'
  /** Of the API server and of every kubelet; default v1.35.4. */
  kubernetes?: string
  /** Default 3. */
  workers?: number
  /** Default 3; each has the label and the taint. */
  controlPlanes?: number
  /** These nodes, as they are, in the place of `workers` and `controlPlanes`. */
  nodes?: readonly Node[]
  /** That many ordinary VMs, or these; default none. */
  vms?: number | readonly VmShape[]
  /** `workloadUpdateMethods`; default absent. */
  methods?: readonly string[]
  batchEvictionSize?: number
  batchEvictionInterval?: string
  /** Default `quay.io/kubevirt`. */
  registry?: string
  /** Images that the operator's environment pins. */
  pinned?: Readonly<Record<string, string>>
  /** Of KubeVirt and its operator; default `kubevirt`. Where there is OLM, its says it. */
  namespace?: string
  /** A HyperConverged made the KubeVirt, and has the `methods`; default: nobody did. */
  hyperconverged?: HyperConvergedShape
  /**
   * OLM installed a HyperConverged, which makes the KubeVirt: their versions are the bundle's, `version`, `operator`, `method`, `pinned`
   * and `hyperconverged` are nothing.
   */
  olm?: OlmShape
  /** The platform, with machines of its own in the place of `workers` and `controlPlanes`. */
  openshift?: OpenShiftShape
  /** What the KubeVirt says of itself, in the place of what `method`, `methods` and `registry` would make of it. */
  kubevirt?: KubeVirt
}

export const defaultVersion = 'v1.7.0'
/** Of Kubernetes. */
export const defaultKubernetes = 'v1.35.4'

export function initialObjects(shape: ClusterShape): KubeObject[] {
  const { openshift, olm, vms = 0, version = defaultVersion } = shape
  const system = ['default', 'kube-system'].map((name) => made(Namespaces, { metadata: { name } }))
  const installed = olm
    ? byOlm(shape, olm)
    : [...operatorManifest(shape.operator ?? version, manifestOptions(shape)), ...kubeVirts(shape, version)]
  return [
    ...system,
    ...(openshift ? openShiftObjects(openshift) : (shape.nodes ?? nodes(shape))),
    ...installed,
    ...(typeof vms === 'number' ? defaultVms(vms) : vms).map(virtualMachine),
  ]
}

/** Where the manifest of an operator puts it, and which images it names. */
export const manifestOptions = ({ registry, pinned, ...shape }: ClusterShape): ManifestOptions => ({
  ...(registry !== undefined && { registry }),
  ...(pinned !== undefined && { pinned }),
  namespace: namespaceOf(shape),
})

/** The operator makes the KubeVirt and all else of the HyperConverged. */
function byOlm(shape: ClusterShape, olm: OlmShape): KubeObject[] {
  const { crd } = installedBundle(olm)
  return [...olmObjects(olm), hyperConvergedObject(crd, settingsOf(shape))]
}

function nodes({ workers = 3, controlPlanes = 3, kubernetes = defaultKubernetes }: ClusterShape): Node[] {
  const role = 'node-role.kubernetes.io/control-plane'
  const { size, nodeInfo } = table
  const many = (length: number, name: string, labels: Record<string, string>) =>
    Array.from({ length }, (_, i) =>
      machineNode(`${name}-${i + 1}`, labels, {
        size,
        nodeInfo: { kubeletVersion: kubernetes, ...nodeInfo },
      }),
    )
  const taints = [{ key: role, effect: 'NoSchedule' }]
  return [
    ...many(controlPlanes, 'cp', { [role]: '' }).map((node) => Object.assign(node, { spec: { taints } })),
    ...many(workers, 'worker', { 'kubevirt.io/schedulable': 'true' }),
  ]
}

/** The kubevirt-cr.yaml of a release, with its empty list of feature gates, and who made it. */
function kubeVirts(shape: ClusterShape, version: string): KubeObject[] {
  const { hyperconverged, kubevirt, method, registry = 'quay.io/kubevirt' } = shape
  if (kubevirt !== undefined) return [kubevirt]
  const { namespace, strategy } = settingsOf(shape)
  const cr = made(KubeVirts, {
    metadata: { name: 'kubevirt', namespace, finalizers: ['foregroundDeleteKubeVirt'] },
    spec: {
      ...structuredClone(table.kubevirt),
      ...(method === 'image-tag' && { imageTag: version, imageRegistry: registry }),
      workloadUpdateStrategy: strategy,
    },
  })
  if (hyperconverged === undefined) return [cr]
  return [
    hyperConvergedDefinition(hyperconverged),
    hyperConvergedObject(hyperconverged, settingsOf(shape)),
    ownedByHyperConverged(cr, hyperconverged),
  ]
}

function settingsOf(shape: ClusterShape) {
  const { methods, batchEvictionSize, batchEvictionInterval } = shape
  return {
    namespace: namespaceOf(shape),
    strategy: {
      ...(methods !== undefined && { workloadUpdateMethods: [...methods] }),
      ...(batchEvictionSize !== undefined && { batchEvictionSize }),
      ...(batchEvictionInterval !== undefined && { batchEvictionInterval }),
    },
  }
}

/** The namespace in which KubeVirt and its operators are. */
export const namespaceOf = ({ namespace, olm }: Pick<ClusterShape, 'namespace' | 'olm'>): string =>
  olm?.namespace ?? namespace ?? 'kubevirt'

/** The kinds that a cluster serves besides those of Kubernetes and KubeVirt. */
export function kindsOf({ hyperconverged, olm, openshift }: ClusterShape): SimKind[] {
  const own = olm === undefined ? hyperconverged : installedBundle(olm).crd
  return [
    ...(own ? [hyperConvergedKind(own)] : []),
    ...(olm ? [...olmKinds(), ...componentKinds()] : []),
    ...(openshift ? openShiftKinds(openshift) : []),
  ]
}
