import { commandOf, wordsOf } from './shell-line.ts'

const isNamed = (names: readonly string[]): boolean => names.length === 1

/** What a printed line may delete. Everything else is a sentence: what is lost, and what to save first. */
const deletable: readonly { kind: RegExp; only: (names: readonly string[], selector: string) => boolean }[] =
  [
    // Pods of KubeVirt that something makes anew, and of a launcher that is not the active one: by name, never all launchers.
    {
      kind: /^pods?$/u,
      only: (names, selector) =>
        (names.length > 0 && names.every((name) => name.startsWith('virt-'))) ||
        (names.length === 0 && /^kubevirt\.io=virt-(?!launcher)[\w-]+$/u.test(selector)),
    },
    { kind: /^(?:virtualmachineinstancemigrations?|vmim)$/u, only: isNamed },
    // One that is not approved, and a Job that failed: whoever offers the line has looked.
    { kind: /^installplans?$/u, only: isNamed },
    { kind: /^jobs?$/u, only: isNamed },
  ]

const isKvups = (names: readonly string[], selector: string): boolean =>
  (names.length > 0 && names.every((name) => /^kvup(?:$|-)/u.test(name))) ||
  (names.length === 0 && selector.startsWith('kvup.io/'))

const selects: ReadonlySet<string> = new Set(['-l', '--selector'])
const valued: ReadonlySet<string> = new Set([
  ...selects,
  ...'-n --namespace --field-selector --context --kubeconfig --timeout --cascade -o --output'.split(' '),
])

/** What no line does, whatever its kind: it takes away what protects an object, claims for a controller what is not so, or leaves a pause without a trace. */
const never: readonly (readonly [why: string, sign: RegExp])[] = [
  ['uses --force', /\s--force(?:[\s=]|$)/u],
  ['pauses a health check, which nothing resumes', /\s(?:machine|node)healthchecks?\b/iu],
  ['removes a finalizer', /finalizers/u],
  ['sets failurePolicy', /failurePolicy/u],
  ['patches a status', /--subresource[\s=]status|["']\/?status["'/]|\/status\//u],
]

/** Why a line may not be printed: what a kubectl, oc or virtctl in it does that is in no table. Undefined where it may. */
export function dangerIn(line: string): string | undefined {
  for (const part of line.split(/[|;&`]+|\$\(/u)) {
    const words = wordsOf(commandOf(part.trim()).replace(/ # .*$/u, ''))
    const at = words.findIndex((word) => /^(?:kubectl|oc|virtctl)$/u.test(word))
    const typed = words.slice(at + 1)
    if (at < 0 || typed[0] === undefined || typed[0] === 'kvup' || typed.includes('can-i')) continue
    const verb = typed.findIndex((word) => word === 'delete' || word === 'patch')
    const why = typed[verb] === 'delete' ? dangerOfDelete(typed.slice(verb + 1)) : undefined
    if (why !== undefined) return why
    const isChange = typed.includes('patch') || typed.includes('annotate')
    const changes = isChange ? never : never.slice(0, 1)
    const found = changes.find(([, sign]) => sign.test(` ${typed.join(' ')} `))
    if (found !== undefined) return found[0]
  }
  return undefined
}

function dangerOfDelete(words: readonly string[]): string | undefined {
  const selector = words.find((_, index) => selects.has(words[index - 1] ?? '')) ?? ''
  const named = words.filter((word, index) => !word.startsWith('-') && !valued.has(words[index - 1] ?? ''))
  const [first = '', ...names] = named
  const targets: readonly (readonly [kind: string, names: readonly string[]])[] = first.includes('/')
    ? named.map((one) => [one.split('/', 1)[0] ?? '', [one.slice(one.indexOf('/') + 1)]])
    : first.split(',').map((kind) => [kind, names])
  const mayGo = (kind: string, of: readonly string[]) =>
    isKvups(of, selector) || deletable.some(({ kind: may, only }) => may.test(kind) && only(of, selector))
  const refused = targets.find(([kind, of]) => !mayGo(kind.toLowerCase().replace(/\..*$/u, ''), of))
  return refused === undefined ? undefined : `deletes ${[refused[0], ...refused[1]].join(' ').trim()}`
}

let throws = false

/** For tests: a line that may not be printed is a bug, and ends what made it. */
export function throwAtDanger(isOn = true): void {
  throws = isOn
}

/** The guard that every line to type passes: false where it must not be printed. Throws in tests. */
export function mayBePrinted(line: string): boolean {
  const why = dangerIn(line)
  if (why !== undefined && throws) throw new Error(`a line to type ${why}: ${line}`)
  return why === undefined
}
