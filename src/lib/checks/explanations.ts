import pages from './explanations.json' with { type: 'json' }
import { parseAccepted, type AcceptedRisk } from '../releases/hop-findings.ts'
import type { Releases } from '../releases/releases.ts'
import { usageError } from '../kube/errors.ts'
import { nearest } from '../kube/text.ts'

/** What a name is: only a finding can be accepted, and not every one has to be. */
export type ExplainedKind =
  | 'finding'
  | 'refusal'
  | 'alert'
  | 'condition'
  | 'component'
  | 'reason'
  | 'message'
  | 'command'
  | 'exit-code'

/** What docs/checks.md says of one name; each part is Markdown. */
export interface Explanation {
  id: string
  kind: ExplainedKind
  /** At which levels a finding comes; of others what they are. */
  level: string
  means: string
  matters: string
  fix: string
}

/** Every heading of docs/checks.md; made by `npm run reference`. */
export const explanations: readonly Explanation[] = pages as readonly Explanation[]

/** What cannot be accepted, though it has a name. */
export const isRefusal = ({ kind }: Pick<Explanation, 'kind'>): boolean => kind === 'refusal'

/** Where it says more than that it is there: a run ends by it until somebody accepts it. */
export const isBlocking = ({ kind, level }: Pick<Explanation, 'kind' | 'level'>): boolean =>
  kind === 'finding' && /blocker|not checked|stops/iu.test(level)

/** What it means in one line: the first sentence, without the marks of Markdown. */
export function meaningOf(text: string): string {
  const plain = text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/gu, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/gu, ' ')
  return (/^.*?(?=[.](?:\s|$)|$)/u.exec(plain)?.[0] ?? plain).trim()
}

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

/** Findings of docs/checks.md, and the issues of the release data. */
function acceptable(releases: Releases): readonly string[] {
  const headings = explanations.filter(({ kind }) => kind === 'finding').map(({ id }) => id)
  return [...headings, ...releases.knownBad.map(({ id }) => id)]
}
