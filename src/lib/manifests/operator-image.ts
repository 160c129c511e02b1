import type { Container } from '../cluster/kinds/pods.ts'
import type { Deployment } from '../cluster/kinds/apps.ts'

/** An image of the operator as virt-operator itself takes it apart (facts 2.1). */
export interface OperatorImage {
  registry: string
  /** `corp-` in `registry/corp-virt-operator:v1.8.4`; mostly empty. */
  prefix: string
  /** `:v1.8.4` or `@sha256:…`; empty where there is neither. */
  suffix: string
}

export function operatorImage(image: string | undefined): OperatorImage | undefined {
  const [, registry, prefix, suffix] = /^(.*)\/(.*)virt-operator([@:].*)?$/.exec(image ?? '') ?? []
  if (registry === undefined || prefix === undefined) return undefined
  return { registry, prefix, suffix: suffix ?? '' }
}

/** The container of the operator: named so, or the only one. */
export function operatorContainer(deployment: Deployment): Container | undefined {
  const containers = deployment.spec?.template?.spec?.containers ?? []
  return containers.find((c) => c.name === 'virt-operator') ?? containers[0]
}

/** Everything in an operator Deployment that names a version, and where. */
export function versionsIn(deployment: Deployment): { version: string; where: string }[] {
  const container = operatorContainer(deployment)
  const env = new Map((container?.env ?? []).map(({ name, value }) => [name, value]))
  const named = [
    {
      version: tagOf(env.get('VIRT_OPERATOR_IMAGE') ?? env.get('OPERATOR_IMAGE')),
      where: 'VIRT_OPERATOR_IMAGE',
    },
    { version: env.get('KUBEVIRT_VERSION'), where: 'KUBEVIRT_VERSION' },
    { version: tagOf(container?.image), where: 'the image of virt-operator' },
  ]
  return named.flatMap(({ version, where }) => (version ? [{ version, where }] : []))
}

function tagOf(image: string | undefined): string | undefined {
  const suffix = operatorImage(image)?.suffix ?? ''
  return /^:([^@]+)/.exec(suffix)?.[1]
}
