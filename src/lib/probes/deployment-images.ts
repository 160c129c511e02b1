import type { Deployment } from '../cluster/kinds/apps.ts'
import { operatorContainer, operatorImage } from '../manifests/operator-image.ts'

/** What virt-operator makes its images from. */
export interface ImageConfig {
  registry: string
  /** `corp-` in `registry/corp-virt-operator:v1.8.4`; mostly empty. */
  prefix: string
  tag: string
  /** What the Job that dumps the install strategy runs. */
  operator: string
  /** What its environment fixes; undefined where the value lies elsewhere (`valueFrom`). */
  fixed: ReadonlyMap<string, string | undefined>
}

/** What the KubeVirt resource says instead of the operator; an empty text is as good as none. */
export interface Overrides {
  registry?: string | undefined
  tag?: string | undefined
}

/**
 * As virt-operator derives it from its own environment (facts 2.1, KV:pkg/virt-operator/util/config.go getConfig); undefined where its image
 * says nothing.
 */
export function imageConfig(operator: Deployment, said: Overrides): ImageConfig | undefined {
  const { image, env = [] } = operatorContainer(operator) ?? { name: '' }
  const fixed = new Map(env.map(({ name, value }) => [name, value]))
  const own = [fixed.get('VIRT_OPERATOR_IMAGE'), fixed.get('OPERATOR_IMAGE'), image].find(Boolean)
  const parsed = operatorImage(own)
  if (own === undefined || parsed === undefined) return undefined
  const registry = said.registry || parsed.registry
  const tag = said.tag || tagOf(parsed.suffix, fixed.get('KUBEVIRT_VERSION'))
  // The prefix is lost there: that is how virt-operator does it.
  const other = said.registry || said.tag ? `${registry}/virt-operator:${tag}` : undefined
  return { registry, prefix: parsed.prefix, tag, operator: other ?? own, fixed }
}

/** A digest has no version in it. */
function tagOf(suffix: string, version: string | undefined): string {
  return suffix.startsWith(':') ? suffix.slice(1) : suffix === '' ? 'latest' : version || 'latest'
}

/** An image, or why it cannot be told. */
export type Derived = { image: string } | { unknown: string }

/** The image of a component: what the environment fixes wins, be it an image or (up to v1.6) a checksum, else registry, prefix, name and tag. */
export function imageOf(config: ImageConfig, name: string, variable: string): Derived {
  const { registry, prefix, tag, fixed } = config
  if (fixed.has(variable)) return fixedAs(variable, fixed.get(variable)) ?? composed()
  const checksum = variable.replace(/IMAGE$/u, 'SHASUM')
  const sum = fixed.get(checksum)
  return sum ? { image: `${registry}/${prefix}${name}@${sum}` } : composed()

  function composed(): Derived {
    return { image: `${registry}/${prefix}${name}:${tag}` }
  }
}

/** Undefined where the variable is empty, which is as good as none. */
function fixedAs(variable: string, value: string | undefined): Derived | undefined {
  if (value === undefined) return { unknown: `${variable} of virt-operator is filled in from elsewhere` }
  return value === '' ? undefined : { image: value }
}
