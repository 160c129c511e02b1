import type { Deployment } from '../cluster/kinds/apps.ts'
import type { Container } from '../cluster/kinds/pods.ts'
import { parseImage } from './image.ts'
import { operatorName } from './stamps.ts'

/** What the virt-operator Deployment says of itself, before anything was asked of KubeVirt. */
export interface Operator {
  name: string
  namespace: string
  image: string
  /** The tag of its image, or KUBEVIRT_VERSION where the image is a digest (facts 2.1); undefined where neither says. */
  version?: string
  /** Where it takes its operands from when the CR does not say. */
  registry: string
  /** Component images that are fixed by its environment: they win over imageTag (facts 2.1). */
  pinned: readonly PinnedImage[]
}

interface PinnedImage {
  env: string
  image: string
}

/** Reads the Deployment's template: environment and image of the container virt-operator. */
export function operatorOf(deployment: Deployment): Operator {
  const container = operatorContainer(deployment)
  const env = valuesOf(container)
  const image = env['VIRT_OPERATOR_IMAGE'] ?? env['OPERATOR_IMAGE'] ?? container?.image ?? ''
  const { tag, digest, registry } = parseImage(image)
  const version = digest === undefined ? tag : env['KUBEVIRT_VERSION']
  return {
    name: deployment.metadata.name,
    namespace: deployment.metadata.namespace ?? '',
    image,
    ...(version === undefined ? {} : { version }),
    registry,
    pinned: pinnedIn(env),
  }
}

function operatorContainer(deployment: Deployment): Container | undefined {
  const containers = deployment.spec?.template?.spec?.containers ?? []
  return containers.find((c) => c.name === operatorName) ?? containers[0]
}

function valuesOf(container: Container | undefined): Record<string, string> {
  return Object.fromEntries((container?.env ?? []).flatMap((e) => (e.value ? [[e.name, e.value]] : [])))
}

const componentImage =
  /^(VIRT_(?!OPERATOR_)[A-Z_]+_IMAGE|GS_IMAGE|PR_HELPER_IMAGE|SIDECAR_SHIM_IMAGE|VIRT_[A-Z]+_SHASUM)$/

function pinnedIn(env: Record<string, string>): readonly PinnedImage[] {
  return Object.entries(env)
    .filter(([name]) => componentImage.test(name))
    .map(([name, image]) => ({ env: name, image }))
}
