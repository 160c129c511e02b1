import { onSingleLine } from './text.ts'

/* oxlint-disable no-control-regex -- what ends a line or hides text is what a quoted word must not hold raw */

/** What would make a second line of one, or show another text than the shell reads. */
const unprintable =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu

/**
 * A word of the command line as it may be printed again: quoted where a shell needs it, always on one line, and without the password that an address may
 * carry. Text of the cluster comes into a line that is printed to be pasted by this alone.
 */
export function shellWord(word: string): string {
  const known = word.replace(/\/\/[^\s/]*@/u, '//<redacted>@')
  if (/^[\w./:@%+=,-]+$/u.test(known)) return known
  if (known.search(unprintable) < 0) return `'${known.replaceAll("'", `'\\''`)}'`
  const escaped = known.replaceAll(/[\\']/gu, String.raw`\$&`).replaceAll(unprintable, escapeOf)
  return `$'${escaped}'`
}

/** The API server checks no name of a Service in a webhook or an APIService: it is anybody's text. */
export const endpointsLine = (service: string, namespace: string): string =>
  `kubectl -n ${shellWord(namespace)} get endpointslices -l ${shellWord(`kubernetes.io/service-name=${service}`)}`

const escapeOf = (found: string): string => `\\u${(found.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

/** A sentence or a command that is one line, whatever text of somebody else is in it. */
export const oneLine = (text: string): string =>
  text.search(unprintable) < 0 ? text : onSingleLine(text).replaceAll(unprintable, '')

/** Flags that are left out where a typed line is printed again. */
interface LeftOut {
  alone?: readonly string[]
  /** With what follows: `--until X`, `--until=X`; of a short one also `-oX`. */
  valued: readonly string[]
}

/** The words of a line that `shellWord` has made, as they are written there: what is quoted is one word. */
export const wordsOf = (line: string): readonly string[] => line.match(/(?:'[^']*'|\\.|[^\s'\\])+/gu) ?? []

export function withoutFlags(words: readonly string[], { alone = [], valued }: LeftOut): readonly string[] {
  return words.filter(
    (word, index) =>
      !alone.includes(word) &&
      !valued.some((flag) => word === flag || isGlued(word, flag)) &&
      !valued.includes(words[index - 1] ?? ''),
  )
}

/** A flag with its value, as it was written; none where it was not typed. */
export function onlyFlag(words: readonly string[], flag: string): readonly string[] {
  return words.filter((word, index) => word === flag || isGlued(word, flag) || words[index - 1] === flag)
}

/** A line that goes on in spite of these findings: it never stands above one that removes their cause or shows it. */
export const takesRisk = (line: string, ids: readonly string[]): boolean =>
  ids.some((id) => new RegExp(`(?:^|\\s)--accept[\\s=]${id}(?![\\w-])`, 'u').test(line))

const isGlued = (word: string, flag: string): boolean =>
  word.startsWith(flag.startsWith('--') ? `${flag}=` : flag) && word !== flag

/** The command of a line that is printed, without what it does, which stands behind three blanks or more. */
export const commandOf = (line: string): string => line.split(/ {3,}/u, 1)[0] ?? ''

/** The same line made of both. */
export const withPurpose = (command: string, purpose: string): string => `${command}     ${purpose}`

/** What somebody types who has to wait for another upgrade. */
export const watchLine = (): string => withPurpose('kvup status -w', 'watches it')

/** Programs that a line of what helps may call: what is broken over lines, and what has an arrow before it. */
export const programs: readonly string[] =
  'kvup kubectl oc virtctl opm curl helm flux argocd skopeo podman cosign etcdctl chronyc timedatectl export'.split(
    ' ',
  )

/** "kvup changed nothing more": a sentence about it, as its messages have them. */
const isVerb =
  /^(?:does|did|has|had|is|was|can|cannot|could|may|must|knows|changed|stopped|stops|pauses|paused|emptied|explains|counts|checks|keeps|goes|to)$/u

/** A line that can be pasted, not a sentence of what helps: only that has an arrow before it. */
export const isCommand = (line: string): boolean => {
  const [program = '', first = ''] = line.trimStart().split(' ', 2)
  return programs.includes(program) && first !== '' && !(program === 'kvup' && isVerb.test(first))
}
