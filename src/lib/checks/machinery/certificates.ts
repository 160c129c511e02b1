import { itemsOf } from '../../facts/known.ts'
import { formatDuration } from '../../system/duration.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'
import { caBundle } from './ca-bundle.ts'

const days = 86_400_000
/** virt-operator renews when a fifth of the life is left (facts 1.1); of a CA that lives for years the last month counts. */
const late = { share: 0.2, atMost: 30 * days }

interface Carrier {
  /** `apiservice/v1.subresources.kubevirt.io` */
  object: string
  caBundle: string | undefined
}

/** Facts 8 (#15210, #3369): a rotation that got stuck shows as a CA that nobody renewed. */
export const certificates: Check = {
  id: 'certificates',
  group: 'machinery',
  title: 'the CAs of webhooks and APIs are valid, and were renewed in time',
  needs: ['webhooks', 'apiServices'],
  blocks: true,
  assess: (question) => carriers(question).flatMap((carrier) => judged(carrier, question)),
}

/** Each object once per bundle: the ten webhooks of a configuration carry the same one. */
function carriers({ evidence, installation }: Question): readonly Carrier[] {
  const found = [
    ...itemsOf(evidence.apiServices).map(({ metadata, spec }) => ({
      object: `apiservice/${metadata.name}`,
      caBundle: spec?.caBundle,
    })),
    ...itemsOf(evidence.webhooks).flatMap(({ kind, metadata, webhooks = [] }) =>
      webhooks
        .filter(({ clientConfig }) => clientConfig?.service?.namespace === installation.namespace)
        .map(({ clientConfig }) => ({
          object: `${kind.toLowerCase()}/${metadata.name}`,
          caBundle: clientConfig?.caBundle,
        })),
    ),
  ]
  return [...new Map(found.map((carrier) => [`${carrier.object} ${carrier.caBundle}`, carrier])).values()]
}

/** A bundle that is missing or unreadable is `webhooks-answering`'s, or what makes an APIService unavailable. */
function judged(carrier: Carrier, { at, installation: { namespace } }: Question): Finding[] {
  const bundle = caBundle(carrier.caBundle)
  if (bundle.is !== 'certificates') return []
  const left = bundle.ends.getTime() - at.getTime()
  const life = bundle.ends.getTime() - bundle.begins.getTime()
  const remedy = [
    `kubectl -n ${namespace} get secrets kubevirt-ca kubevirt-operator-certs kubevirt-virt-api-certs`,
    `kubectl -n ${namespace} logs deployment/virt-operator --tail=50`,
  ]
  if (left <= 0) return [expired(carrier.object, bundle.ends, remedy)]
  return left < Math.min(life * late.share, late.atMost) ? [ending(carrier.object, left, remedy)] : []
}

const expired = (object: string, ends: Date, remedy: readonly string[]): Finding => ({
  id: 'certificates',
  level: 'blocker',
  summary: `the CA in ${object} expired at ${ends.toISOString()}: calls to it fail, and the operator's own writes with them`,
  objects: [object],
  remedy,
})

const ending = (object: string, left: number, remedy: readonly string[]): Finding => ({
  id: 'certificates',
  level: 'warning',
  summary: `the CA in ${object} ends in ${formatDuration(left)} and was not renewed: the rotation may be stuck`,
  objects: [object],
  remedy,
})
