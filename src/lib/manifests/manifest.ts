import { Deployments, type Deployment } from '../cluster/kinds/apps.ts'
import type { KubeObject } from '../cluster/object.ts'
import { usageError } from '../system/errors.ts'
import { inApplyOrder, kindOf } from './kinds.ts'
import { notAManifest } from './parse.ts'
import { nameOf } from './name-of.ts'
import { versionsIn } from './operator-image.ts'
import { malformed } from './well-formed.ts'

/** A kubevirt-operator.yaml: what it holds, in the order in which it is applied. */
export interface Manifest {
  /** File, URL or `standard input`: for messages. */
  readonly origin: string
  readonly objects: readonly KubeObject[]
  readonly operator: Deployment
  readonly namespace: string
}

/** Throws `usage` that says what the objects look like instead, or that kvup does not know a kind among them. */
export function operatorManifest(objects: readonly KubeObject[], origin: string): Manifest {
  const operator = objects.find(isOperator)
  const crd = objects.some(
    (o) => o.kind === 'CustomResourceDefinition' && o.metadata.name === 'kubevirts.kubevirt.io',
  )
  if (operator === undefined || !crd) throw notAManifest(origin, lookOf(objects, operator, crd))
  for (const object of objects) mustBeSound(object, origin)
  const { namespace = '' } = operator.metadata
  return { origin, objects: inApplyOrder(objects), operator, namespace }
}

function mustBeSound(object: KubeObject, origin: string): void {
  if (kindOf(object).namespaced && object.metadata.namespace === undefined)
    throw notAManifest(origin, `${nameOf(object)} names no namespace`)
  const wrong = malformed(object)
  if (wrong !== undefined) throw notAManifest(origin, `${wrong} of ${nameOf(object)} is no list of objects`)
}

/** Throws `usage` unless everything in the manifest that names the version names this one (`v1.8.4`). */
export function mustBeVersion({ origin, operator }: Manifest, to: string): void {
  const found = versionsIn(operator)
  const other = found.find(({ version }) => canonical(version) !== canonical(to))
  if (found.length > 0 && other === undefined) return
  const is = other === undefined ? 'names no version' : `is of ${other.version} (${other.where})`
  throw usageError('manifest-version', `the manifest ${origin} ${is}, not of ${to}`, {
    remedy:
      other === undefined
        ? 'name the kubevirt-operator.yaml of the release: --manifest FILE|URL'
        : [
            `kvup upgrade --to ${other.version} --manifest ${origin === 'standard input' ? '-' : origin}`,
            'or name the manifest of the version that is meant',
          ],
  })
}

function isOperator(object: KubeObject): object is Deployment {
  return object.kind === Deployments.kind && object.metadata.name === 'virt-operator'
}

const canonical = (version: string) => version.replace(/^v/, '')

function lookOf(objects: readonly KubeObject[], operator: Deployment | undefined, crd: boolean): string {
  const kinds = [...new Set(objects.map((o) => o.kind))]
  if (kinds.includes('ClusterServiceVersion')) return 'it is for OLM (a ClusterServiceVersion)'
  if (kinds.includes('HyperConverged')) return 'it holds a HyperConverged, not the operator of KubeVirt'
  if (kinds.length === 1 && kinds[0] === 'KubeVirt')
    return 'it looks like a kubevirt-cr.yaml (the KubeVirt CR alone)'
  if (operator !== undefined && !crd) return 'the CustomResourceDefinition kubevirts.kubevirt.io is missing'
  if (crd) return 'the Deployment virt-operator is missing'
  return `it holds ${kinds.join(', ')}`
}
