import type { Pod } from '../../cluster/kinds/pods.ts'

/** What a virt-operator process knows of itself (facts 2.1). */
export interface OperatorPod {
  name: string
  namespace: string
  registry: string
  imagePrefix: string
  tag: string
  /** The version that the binary was built as. */
  version: string
  env: ReadonlyMap<string, string>
}

const pattern = /^(.*)\/(.*)virt-operator(?:[@:](.*))?$/

/** Reads image and environment of the pod as the operator does. */
export function operatorPod({ metadata, spec }: Pod): OperatorPod {
  const [container] = spec?.containers ?? []
  const env = new Map((container?.env ?? []).map(({ name, value = '' }) => [name, value]))
  const image = imageParts(env.get('VIRT_OPERATOR_IMAGE') ?? container?.image ?? '')
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    ...image,
    version: env.get('KUBEVIRT_VERSION') ?? image.tag,
    env,
  }
}

function imageParts(image: string): Pick<OperatorPod, 'registry' | 'imagePrefix' | 'tag'> {
  const [, registry = '', imagePrefix = '', tag = 'latest'] = pattern.exec(image) ?? []
  return { registry, imagePrefix, tag }
}
