import { itemsOf } from '../../facts/known.ts'
import type { Check, Question } from '../check.ts'
import { someOf } from '../../system/some-of.ts'

/** Contract "Rights": one question per verb of the method's role; what is optional costs words, not the upgrade. */
export const rights: Check = {
  id: 'rights',
  group: 'rights',
  title: 'you may do everything that this takes',
  findings: ['rights-optional'],
  needs: ['rights'],
  blocks: true,
  assess(question) {
    const refused = itemsOf(question.evidence.rights).filter(({ allowed }) => !allowed)
    const missing = refused.filter(({ optional }) => !optional).map(({ what }) => what)
    const extra = refused.filter(({ optional }) => optional).map(({ what }) => what)
    return [
      ...(missing.length > 0 ? [blocking(missing, question)] : []),
      ...(extra.length > 0 ? [optional(extra, question)] : []),
    ]
  },
}

const blocking = (missing: readonly string[], question: Question) =>
  ({
    id: 'rights',
    level: 'blocker',
    summary: `you may not: ${someOf(missing)}`,
    objects: missing,
    remedy: bind(question),
  }) as const

const optional = (extra: readonly string[], question: Question) =>
  ({
    id: 'rights-optional',
    level: 'warning',
    summary: `kvup will say less, for you may not: ${someOf(extra)}`,
    objects: extra,
    remedy: bind(question),
  }) as const

/** What the role is bound with is printed above it. */
function bind({ target, method, installation }: Question): readonly string[] {
  const role = target === undefined ? 'kvup-view' : roles[method ?? 'operator-manifest']
  return [
    `kvup rbac ${role} --namespace-of-kubevirt ${installation.namespace} | kubectl apply -f -`,
    `kubectl create clusterrolebinding ${role} --clusterrole=${role} --user=NAME`,
    `kubectl -n ${installation.namespace} create rolebinding ${role} --role=${role} --user=NAME`,
  ]
}

const roles = {
  'image-tag': 'kvup-upgrade',
  'operator-manifest': 'kvup-operator-manifest',
  olm: 'kvup-olm',
} as const
