import pages from './explanations.json' with { type: 'json' }
import { parseAccepted, type AcceptedRisk } from '../releases/hop-findings.ts'
import type { Releases } from '../releases/releases.ts'
import { usageError } from '../kube/errors.ts'
import { nearest } from '../kube/text.ts'

/** What docs/checks.md says of one finding. */
export interface Explanation {
  id: string
  text: string
}

/** Every heading of docs/checks.md, and the refusals below them; made by `npm run reference`. */
export const explanations: readonly Explanation[] = pages

/** What cannot be accepted, though it has a name. */
export function isRefusal({ text }: Explanation): boolean {
  return text.startsWith('Refused, and cannot be accepted.')
}

const levelWord = '(?:Blocker|Warning|Info)'

/** How an explanation begins before it says what it is about: its level, for which method, where. */
const beginnings: readonly RegExp[] = [
  /^Refused, and cannot be accepted\. /u,
  new RegExp(`^${levelWord}(?:, [^.:]*)?\\. `, 'u'),
  /^Image-tag only\. /u,
  new RegExp(`^${levelWord}(?:,| or) [^.:]*: `, 'u'),
  new RegExp(`^${levelWord} (?:where|while) `, 'u'),
  // Names of findings.
  /^(?:[a-z-]+, )+[a-z-]+\. /u,
]

/** A sentence that is longer than this is cut at the next of its clauses. */
const longest = 80

/** What an explanation is about in one line: its first sentence, without the level and its clauses. */
export function meaningOf(text: string): string {
  const plain = text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/gu, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/gu, ' ')
  const about = beginnings.reduce((rest, beginning) => rest.replace(beginning, ''), plain)
  return capital(short(/^.*?(?=[.:;](?:\s|$)|$)/u.exec(about)?.[0] ?? about))
}

function short(sentence: string): string {
  if (sentence.length <= longest) return sentence
  const bare = sentence.replaceAll(/ \([^)]*\)/gu, '')
  return bare.length <= longest
    ? bare
    : bare.replace(/(?<=.{28}), (?:and|or|so|where|which|warning) .*$/u, '')
}

/** Names stay as they are written. */
const capital = (sentence: string): string =>
  sentence.replace(/^(?:the|a|an) /u, (article) => article.charAt(0).toUpperCase() + article.slice(1))

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
