/** What stands for a secret. */
export const hidden = '<redacted>'

/** How programs name what is a credential, at the end of a key, a flag or the name of an environment variable. */
const secretWord = String.raw`token|passw(?:or)?d|passphrase|passcode|(?:db|my|user|root|admin|pg|ssh|sudo|ldap|smtp|mysql|redis|bind|login)pass(?![a-z])|(?<![a-z])pass(?![a-z])|(?<![a-z])pw(?![a-z])|pwd|secret|credentials?|(?:api|access|client|private|secret|account|encryption|signing|auth|session)[-_ ]?key(?:[-_]?(?:id|data))?|signature|tls\.key|kubeconfig[-_]?data|(?<=_)auth(?![a-z])`
/** Keys that are one only where they are all of the key and have a text: `"auth": "…"` of a file with logins of registries. */
const loginKey =
  /^(?:auth|sig|chpasswd|\.?dockerconfigjson|\.?dockercfg|userData(?:Base64)?|cookie|authorization)$/iu
const secretKey = new RegExp(`(?:${secretWord}|[a-z]Pass)$`, 'iu')
/** Environment variables say more behind the word: `TOKEN_2`, `PASSWORD_FILE` is no harm to hide. */
const secretName = new RegExp(`${secretWord}|pass(?:_|$)|(?:^|_)auth(?:_|$)`, 'iu')

/** Characters that nobody sees: a word is the same word with them inside. */
const unseen =
  /\p{Cf}|\u034f|\u115f|\u1160|\u17b4|\u17b5|[\u180b-\u180f]|\u3164|[\ufe00-\ufe0f]|\uffa0|[\u{e0100}-\u{e01ef}]/gu

const visibleOf = (text: string): string => text.replace(unseen, '')

/** Whether an environment variable of this name is a credential. */
export const isSecretName = (name: string): boolean => secretName.test(visibleOf(name))
/** Whether what stands under this key or behind this flag is a credential. */
export const isSecretKey = (name: string): boolean => secretKey.test(visibleOf(name))
/** Whether a text under this key is a login. */
export const isLoginKey = (name: string): boolean => loginKey.test(visibleOf(name))

/** What `change` makes of a text as a person sees it; a text of which nothing goes is the same to the last character. */
export function changedWhereVisible(text: string, change: (visible: string) => string): string {
  const visible = visibleOf(text)
  const left = change(visible)
  return left === visible ? text : left
}

/**
 * A text without what is a credential by its shape, or by the word before it. A page, a log and a cluster write into such texts what they like: each pass goes over the text
 * once, and what is looked at from one place is bounded, so that a megabyte of half a match ends as soon as any other.
 */
export function withoutSecrets(text: string): string {
  return changedWhereVisible(text, (visible) => {
    let left = withoutLogins(visible)
    for (const [pattern, instead] of shapes) left = left.replace(pattern, instead)
    left = left.replace(basic, (whole, code: string) => (isLogin(code) ? `Basic ${hidden}` : whole))
    return withoutNamed(
      left.replace(header, (_, name: string, ...kinds: string[]) => name + kindOf(kinds) + hidden),
    )
  })
}

const shapes: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/gu, hidden],
  // A file with logins of registries, as a text.
  [/(["']auth\\{0,8}["']\s{0,8}:\s{0,8}\\{0,8}["'])[^"'\\]+/gu, `$1${hidden}`],
  [/((?<![\w-])auth\s{0,8}:\s{0,8}\\{0,8}["']?)[A-Za-z0-9+/]{8,}={0,2}(?![\w./-])/gu, `$1${hidden}`],
  // Tokens of JSON, and a file with logins of registries in base64.
  [/(?<![\w-])eyJ[\w-]{8,}(?:\.[\w-]+\.[\w-]*(?:\.[\w-]*){0,2})/gu, hidden],
  [/(?<![\w-])eyJhdXRo[\w+/-]{8,}=*/gu, hidden],
  // Of OpenShift, GitHub, GitLab, AWS, Slack, Google, npm, Docker and Vault.
  [/(?<![\w-])sha256~[\w-]+/gu, hidden],
  [/(?<![a-z0-9])(?:gh[a-z]_|github_pat_|glpat-|npm_|dckr_pat_|hv[sbr]\.)[\w-]{10,}/giu, hidden],
  [/(?<![a-z0-9])(?:AKIA|ASIA|ABIA|ACCA|AIza)[\w-]{12,}/giu, hidden],
  [/(?<![a-z0-9])(?:xox[a-z]|xapp)-[\w-]{4,}/giu, hidden],
  [/\bBearer\s{1,8}[\w.~+/=-]+/gu, `Bearer ${hidden}`],
  [/\b((?:set-)?cookie\\{0,8}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,8}["']?)[^\n"'\\]{1,8000}/giu, `$1${hidden}`],
  [
    /((?:[?&]|&amp;|\\u0026)(?:[\w.-]{0,40}(?:signature|credential|token|secret|passw(?:or)?d|key|auth)|sig|code|jwt|pw|pass)=)[^\s&#"'<>\\]+/giu,
    `$1${hidden}`,
  ],
  [/((?<![\w-])(?:-u|--user|--proxy-user)[ =]["']?[^\s:"']{1,100}:)[^\s"']+/gu, `$1${hidden}`],
  [/(\bsshpass\s{1,8}-p\s{0,8})(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'|[^\s"']+)/gu, `$1${hidden}`],
  // Passwords of users as a guest's first boot sets them, in front of the program and behind it.
  [/(?<=[\w.-]:)[^\s"':|]{1,200}(?=(?:\\n)?["']?\s{0,8}\|\s{0,8}(?:sudo\s{1,8})?chpasswd)/gu, hidden],
  [
    /(\bchpasswd\b(?![\w-]))(?=[^\n]{0,4000}:)[^\n]{0,4000}(?:\n[ \t-][^\n]{0,4000}){0,64}/giu,
    `$1 ${hidden}`,
  ],
]
/** One word, or two where the first may be the kind of login; of some kinds all of the line belongs to it. */
const header =
  /\b(authorization\\{0,8}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,8}["']?)(?!(?:\w{1,20}[ \t]{1,8})?<redacted>)(?:(Digest|AWS4[\w-]{0,20}|OAuth|Hawk|Signature|NTLM|Negotiate)[ \t]{1,8}[^\n]{1,4000}|(Bearer|Basic|token|Api-?Key|Key)[ \t]{1,8}[^\s"'\\,;]{1,8000}|[^\s"'\\,;]{1,8000}(?:[ \t]{1,8}[^\s"'\\,;]{1,8000})?)/giu
const kindOf = ([all, one]: readonly (string | undefined)[]): string => ((all ?? one) ? `${all ?? one} ` : '')
const basic = /\bBasic\s{1,8}([A-Za-z0-9+/]{4,}=*)/gu

/** `name:password` in base64, as HTTP's Basic has it; two words of prose are none. */
const isLogin = (code: string): boolean => Buffer.from(code, 'base64').toString('latin1').includes(':')

const addressed = /(?<=[a-z0-9+.-]:\/\/)[^\s"'<>\\]+/giu
/** `user:password@registry:5000`; an image is called `virt-api:v1@sha256:…`. */
const bareLogin = /(?<![^\s"'`=,;([{<])[\w.+-]{1,64}:(?!\/\/)[^\s"'<>]{1,256}@(?!sha\d{3}:)(?=[\w[])/gu

/** Names and passwords in addresses; the password may have an @, a / or a # of its own. */
const withoutLogins = (text: string): string => withoutLoginsOfUrls(text).replace(bareLogin, `${hidden}@`)

export const withoutLoginsOfUrls = (text: string): string =>
  text.includes('://') && text.includes('@')
    ? text.replace(addressed, (run) => run.split('://').map(withoutLogin).join('://'))
    : text

function withoutLogin(part: string): string {
  const at = lastAt(part)
  if (at < 1) return part
  const authority = /^[^/?#]*/u.exec(part)?.[0] ?? ''
  return authority.includes('@') || authority.includes(':') ? hidden + part.slice(at) : part
}

/** The digest of an image is behind an @ as well. */
function lastAt(part: string): number {
  const at = part.lastIndexOf('@')
  return /^@sha\d{3}:/u.test(part.slice(at, at + 8)) ? part.lastIndexOf('@', at - 1) : at
}

const word = new RegExp(`(?:${secretWord})`, 'giu')
/** What of a name may stand behind the word: `PASSWORD_FILE`, `token2`. */
const wordEnd = /(?:_[A-Z0-9_]{1,40}|[_-]?\d{1,3}|(?<=[a-z])Base64)?/uy
const variable =
  /[\w.-]{0,60}\\{0,8}["'`]?(?:[\s,]|\\{1,8}[nrt]){1,40}\\{0,8}["'`]?value\\{0,8}["'`]?[ \t]{0,8}[:=][ \t]{0,8}/uy
const separator =
  /\\{0,8}["'`]?(?:\](?:\.value)?)?[ \t]{0,8}(?::=|=>|={1,2}|:|%3[ad])[ \t]{0,8}(?:(?:\r?\n|\\{1,8}n)[ \t]{1,40}(?=[^\s:=\\]{1,200}[ \t]{0,8}(?:\r?\n|\\{1,8}n|$)))?/iuy
const element = />(?=[^<\n]{1,1000}<\/)/uy
const told =
  /(?:[ \t]{1,8}(?:of|for)[ \t]{1,8}\S{1,64})?[ \t]{1,8}(?:is|was|set to|changed to|reset to)(?:[ \t]{1,8}(?:now|still))?:?[ \t]{1,8}/iuy
const behindFlag = /\\{0,8}["'`]?(?:[ \t]{1,8}|[ \t]{0,8},[ \t]{0,8})(?!-)/uy
const beside = /[ \t]{1,8}/uy
/** Words of a sentence, which stand behind a flag or an "is" and are no value of it. */
const prose =
  /^(?:(?:or|and|is|was|are|in|into|to|with|without|of|for|on|from|as|at|by|the|an?|no|not|that|which|it|its|this|only|never|then|than|where|when|if|but|has|have|had|must|may|can|cannot|needs?|needed|does|wrong|expired|invalid|incorrect|missing|required|requested|rejected|refused|denied|accepted|empty|too|set|unset|unknown|valid|stale|old|new|read|used|taken|asked|given|kept|saved|stored|hidden|gone|being|about|still|file|files|auth|authentication)(?![\w-])|[-<(…]|\$)/iu
const flagAtEnd = /(?:^|[^\w-])--?(?:[a-z][\w-]{0,60})?$/iu

/** What stands behind the name of a credential, however the two are written. */
function withoutNamed(text: string): string {
  let [left, from] = ['', 0]
  for (const { 0: found, index } of text.matchAll(word)) {
    if (index < from || text.slice(Math.max(0, index - 20), index).endsWith('serviceaccounts/')) continue
    const begins = valueAfter(text, { index, found })
    if (begins === undefined) continue
    const [first, last] = valueAt(text, begins)
    if (first === last || text.startsWith(hidden, first)) continue
    left += text.slice(from, first) + hidden
    from = last
  }
  return left + text.slice(from)
}

/** Where the value begins, if there is one. */
function valueAfter(text: string, { index, found }: { index: number; found: string }): number | undefined {
  const end = endOf(wordEnd, text, index + found.length) ?? index + found.length
  const assigned = endOf(variable, text, end) ?? endOf(separator, text, end) ?? endOf(element, text, end)
  // "11 checks pass: 2 fail" counts them.
  if (assigned !== undefined)
    return found === 'pass' && /^: \d{1,4}(?!\S)/u.test(text.slice(end, end + 8)) ? undefined : assigned
  const isFlag = flagAtEnd.test(text.slice(Math.max(0, index - 64), index))
  return statedAfter(text, { end, found, isFlag })
}

/** Behind a flag and in a sentence. "The token is expired" and "password authentication" are sentences too. */
function statedAfter(
  text: string,
  { end, found, isFlag }: { end: number; found: string; isFlag: boolean },
): number | undefined {
  const stated = endOf(told, text, end) ?? (isFlag ? endOf(behindFlag, text, end) : undefined)
  const next = stated ?? endOf(beside, text, end)
  if (next === undefined) return undefined
  const value = text.slice(next, next + 64)
  if (prose.test(value)) return undefined
  const isPassword = /^pass(?!$)|pwd$/iu.test(found)
  if (isFlag || (isPassword && (stated !== undefined || /^passwd$/iu.test(found)))) return next
  const isLikeOne = /^(?:\\{0,8}["'`{]|[^\s,;]*[\d!#$%^&*+=])/u.test(value)
  return isLikeOne && (stated !== undefined || isPassword) ? next : undefined
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** The most that one value has; what is longer is hidden up to there, and the rest by what it looks like. */
const longest = 16_384
const opening = /\\{0,8}["'`]/uy
const block = /[|>][+-]?\d?[ \t]{0,8}(?:\r?\n|\\{1,8}n)/uy

/** Begin and end of a value, without the quotes around it. */
function valueAt(text: string, at: number): readonly [number, number] {
  if (text[at - 1] === '>' && text[at - 2] !== '=') return [at, text.indexOf('</', at)]
  const lines = endOf(block, text, at)
  if (lines !== undefined) return [lines, endOfBlock(text, at, lines)]
  const inside = endOf(opening, text, at)
  if (inside !== undefined) return [inside, endOfQuoted(text, inside, text.slice(at, inside))]
  const braces = { '{': '}', '[': ']' }[text[at] ?? '']
  const closed = braces === undefined ? -1 : text.slice(at, at + longest).indexOf(braces)
  if (closed > 0) return [at, at + closed + 1]
  return [at, endOfWord(text, at)]
}

/** Another word of the same value stands behind a quote that does not end it: `'it''s'`, `'a'\''b'`, `'a'b'`. */
const goesOn = /[\p{L}\p{N}_]|["'][\p{L}\p{N}_]|\\{1,4}'/uy

function endOfQuoted(text: string, from: number, quote: string): number {
  const limit = Math.min(text.length, from + longest)
  const mark = quote.at(-1) ?? ''
  for (let at = from; at < limit; at += 1) {
    if (text[at] === '\\' && quote.length === 1 && mark !== "'") at += 1
    else if (text.startsWith(quote, at) && (quote.length === 1 || text[at - 1] !== '\\')) {
      if (endOf(goesOn, text, at + quote.length) === undefined) return at
    } else if (quote.length > 1 && text[at] === mark && text[at - 1] !== '\\') return at
  }
  // Cut off: all of the line belongs to it.
  const line = text.slice(from, limit).search(/\r?\n/u)
  return line === -1 ? limit : from + line
}

const wordStop = /[\s"'`\\<>{}[\]()]/u
/** A comma or semicolon belongs to a password unless the next thing begins behind it. */
const nextThing = /[,;](?:$|[\s"'`\\{}[\]()]|[\w.-]{1,64}\\?["']?[:=])/uy

function endOfWord(text: string, from: number): number {
  const limit = Math.min(text.length, from + longest)
  for (let at = from; at < limit; at += 1) {
    const one = text[at] ?? ''
    if ((one === ',' || one === ';') && endOf(nextThing, text, at) !== undefined) return at
    if (one === '\\' && /[^\s"'`nrt\\]/u.test(text[at + 1] ?? ' ')) at += 1
    else if (wordStop.test(one) && (/\s/u.test(one) || endOf(goesOnInWord, text, at) === undefined)) return at
  }
  return limit
}

const goesOnInWord = /["'`<>{}[\]()]{1,8}[\p{L}\p{N}_!#$%^&*+]/uy

/** All lines that stand further right than that of the key, in a text whose ends of lines may be written as `\\n`. */
function endOfBlock(text: string, key: number, from: number): number {
  const mark = text[from - 1] === '\n' ? '\n' : '\\n'
  const before = text.slice(Math.max(0, key - 400), key)
  const indent = indentOf(before.slice(before.lastIndexOf(mark) + (before.includes(mark) ? mark.length : 0)))
  const limit = Math.min(text.length, from + longest)
  let at = from
  while (at < limit) {
    const end = text.slice(at, limit < at + widest ? limit : at + widest).indexOf(mark)
    const line = text.slice(at, end === -1 ? Math.min(limit, at + widest) : at + end)
    if (line.trim() !== '' && indentOf(line) <= indent) return Math.max(from, at - mark.length)
    at = end === -1 ? Math.min(limit, at + widest) : at + end + mark.length
  }
  return Math.max(from, text.endsWith(mark, limit) ? limit - mark.length : limit)
}

/** Of one line; a wider one counts as several. */
const widest = 1024
const indentOf = (line: string): number => line.length - line.trimStart().length
