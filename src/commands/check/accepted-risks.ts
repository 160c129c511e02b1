import { explanations, isRefusal } from '../../lib/checks/explanations.ts'
import type { Releases } from '../../lib/releases/releases.ts'
import type { AcceptedRisk } from '../../lib/checks/check-run.ts'
import { parseAccepted } from '../../lib/checks/risk-gate.ts'
import { usageError } from '../../lib/kube/errors.ts'
import { nearest } from '../../lib/kube/text.ts'

/** Throws `usage` for a name that no finding has, with the nearest that one has. */
export function acceptedRisks(words: readonly string[], releases: Releases): readonly AcceptedRisk[] {
  const accepted = parseAccepted(words)
  const names = acceptable(releases)
  const wrong = accepted.find(({ id }) => !names.includes(id))
  if (wrong === undefined) return accepted
  const refused = explanations.some((one) => one.id === wrong.id && isRefusal(one))
  if (refused)
    throw usageError('not-acceptable', `${wrong.id} cannot be accepted`, {
      remedy: `kvup explain ${wrong.id}`,
    })
  const meant = nearest(wrong.id, names)
  throw usageError('no-such-finding', `no finding is named ${JSON.stringify(wrong.id)}`, {
    remedy: meant === undefined ? 'kvup explain      lists them' : `--accept ${meant}`,
  })
}

/** Headings of docs/checks.md, and the issues of the release data. */
function acceptable(releases: Releases): readonly string[] {
  const headings = explanations.filter((one) => !isRefusal(one)).map(({ id }) => id)
  return [...headings, ...releases.knownBad.map(({ id }) => id)]
}
