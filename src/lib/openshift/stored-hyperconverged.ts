import type { Reader } from '../kube/cluster.ts'
import { atVersion, groupOf, type Kind, resourceOf } from '../kube/object.ts'
import { type CustomResourceDefinition, CustomResourceDefinitions } from '../kube/kinds/extension-kinds.ts'
import { type HyperConverged, HyperConvergeds } from '../kube/kinds/operator-kinds.ts'
import { ApiError, blocked, forbidden } from '../kube/errors.ts'

/** Versions whose fields kvup knows (hco 2). */
const known = ['v1beta1', 'v1'] as const
type KnownVersion = (typeof known)[number]

const crd = resourceOf(HyperConvergeds)
const show = `kubectl get crd ${crd} -o jsonpath='{.spec.conversion.strategy} {.status.storedVersions}'`

/**
 * HyperConverged under the version that is stored. Any write through another one, be it a label, loses a stored `[]` wherever the
 * versions are not converted (hco 12). Throws `blocked` where no version is safe, `forbidden` where it cannot be told.
 */
export async function storedHyperConverged(
  reader: Reader,
): Promise<{ kind: Kind<HyperConverged>; version: KnownVersion }> {
  const served = await reader.versions(groupOf(HyperConvergeds))
  const name = served.length === 1 ? served[0] : await storedVersion(reader)
  const version = known.find((one) => one === name)
  if (version === undefined || !served.includes(version)) throw unknownVersion(name, served)
  return { kind: atVersion(HyperConvergeds, version), version }
}

async function storedVersion(reader: Reader): Promise<string | undefined> {
  const { spec = {}, status = {} } = (await readDefinition(reader)) ?? {}
  const stored = spec.versions?.find(({ storage }) => storage === true)?.name
  if (spec.conversion?.strategy === 'Webhook') return stored
  const { storedVersions: inEtcd = [] } = status
  if (inEtcd.every((version) => version === stored)) return stored
  throw blocked(
    'hyperconverged-not-converted',
    `${crd} is stored as ${inEtcd.join(' and ')} and nobody converts between them now: a write could lose settings`,
    {
      object: `customresourcedefinitions/${crd}`,
      remedy: `wait until hco-webhook has put its conversion back: ${show}`,
    },
  )
}

async function readDefinition(reader: Reader): Promise<CustomResourceDefinition | undefined> {
  try {
    const found = await reader.find(CustomResourceDefinitions, { name: crd })
    return found.is === 'object' ? found.object : undefined
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    throw forbidden(
      'hyperconverged-version-unread',
      `cannot tell which version of HyperConverged is stored, and a write through another one could lose settings: ${error.message}`,
      { object: `customresourcedefinitions/${crd}`, remedy: 'kvup rbac kvup-settings | kubectl apply -f -' },
    )
  }
}

function unknownVersion(name: string | undefined, served: readonly string[]): Error {
  return blocked(
    'hyperconverged-version-unknown',
    `HyperConverged is stored as ${name ?? 'no version that could be read'} and served as ${served.join(', ') || 'nothing'}; kvup knows ${known.join(' and ')}`,
    { object: `customresourcedefinitions/${crd}`, remedy: show },
  )
}
