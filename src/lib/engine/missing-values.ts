import type { Prompt } from '../kube/world.ts'
import type { Journal, Override } from './journal.ts'
import { isOfWindow, type MissingValue, pathsOf } from './overrides.ts'

/** A saved value that is missing, as something that stands against a change. */
interface MissingValueFinding {
  id: 'saved-value-missing'
  level: 'blocker'
  summary: string
  objects: readonly string[]
  remedy: readonly string[]
}

interface Settling {
  prompt: Prompt
  /** `--accept saved-value-missing`: they are left as they are. */
  isAccepted: boolean
  /** The id of the only override that matters. */
  only?: string
  /** Throws `blocked` for what is left. */
  gate: (findings: readonly MissingValueFinding[]) => void
}

/**
 * Settings that read as kvup leaves them, and whose former value is on no object any more: a person on a terminal may confirm what the journal claims, `--accept saved-value-missing` leaves
 * them as they are. `--yes` confirms nothing, for whoever can write the journal would be obeyed. Throws what `gate` throws, with the lines that decide.
 */
export async function settleMissingValues(
  journal: Journal,
  { prompt, isAccepted, only, gate }: Settling,
): Promise<void> {
  const missing = (await journal.missing()).filter((one) => only === undefined || one.id === only)
  if (missing.length === 0 || isAccepted) return
  const left: MissingValue[] = []
  for (const one of missing) {
    const isConfirmed =
      one.claim && (await prompt.decide?.(`${missingText(one)}. Is that true, and shall it be restored?`))
    if (one.claim && isConfirmed === true) journal.believe(one.claim)
    else left.push(one)
  }
  gate(missingValueFindings(left))
}

/** What speaks against going on. Pure. */
export function missingValueFindings(missing: readonly MissingValue[]): readonly MissingValueFinding[] {
  return missing.map((one) => ({
    id: 'saved-value-missing',
    level: 'blocker',
    summary: missingText(one),
    objects: [nameOf(one)],
    remedy: remedyOf(one),
  }))
}

/** What is not known of it, and who says what, in a sentence. */
export function missingText(missing: MissingValue): string {
  const { why, claim } = missing
  const what = claim ? fieldOf(claim.path) : missing.id
  const note =
    why === 'missing'
      ? `the note of its former value is not on ${nameOf(missing)} any more`
      : `the note of its former value on ${nameOf(missing)} was changed and cannot be read`
  const said =
    claim === undefined ? '' : `; the journal, which others can write, says that it was ${claimed(claim.was)}`
  return `${what} reads as kvup leaves it for a time, and ${note}${said}`
}

function claimed(was: NonNullable<MissingValue['claim']>['was']): string {
  if (!was.present) return 'not set'
  return Array.isArray(was.value) ? was.value.join(', ') : JSON.stringify(was.value)
}

const fieldOf = (path: string): string => path.slice(1).replaceAll('/', '.').replaceAll('~1', '/')

const nameOf = ({ object: { kind, name, namespace } }: MissingValue): string =>
  namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`

/** Setting the field by hand decides as well: it then reads otherwise than kvup leaves it. */
function remedyOf({ id: loan, claim }: MissingValue): readonly string[] {
  const inWindow = claim !== undefined && isOfWindow(claim)
  if (loan === 'workload-updates')
    return [
      `kvup workloads strategy set --methods ${methodsIn(claim)}     resumes automatic VM updates so`,
      `${inWindow ? `kvup eus restore ${loan}` : 'kvup workloads restore'} --keep-current     leaves them off, and forgets it`,
    ]
  const leaves = inWindow
    ? `kvup eus restore ${loan} --keep-current     leaves it as it is, and forgets it`
    : 'add --accept saved-value-missing     leaves it as it is'
  return [leaves, 'kvup history     shows what kvup changed, and when']
}

function methodsIn(claim: MissingValue['claim']): string {
  const value = claim?.was.present ? claim.was.value : undefined
  const safe = Array.isArray(value) && value.every((one) => one === 'LiveMigrate')
  return safe && value.length > 0 ? value.join(',') : 'LiveMigrate'
}

/** A person said that what it was is to be forgotten: then it is closed as any other, with whatever note is left of it. */
export function asOverride({ id: loan, object, claim }: MissingValue, at: string): Override {
  if (claim !== undefined) return claim
  const [path = ''] = pathsOf(loan)
  return { id: loan, procedure: 'restore', object, path, was: { present: false }, by: 'unknown', at }
}
