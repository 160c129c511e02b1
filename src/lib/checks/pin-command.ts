import type { Shift } from '../releases/releases.ts'
import type { Question } from './check.ts'
import { gatesOf, undecided } from './feature-gates.ts'
import { patchOf } from './field.ts'

/** The gates that are known to hurt and that nobody has turned on or off: what a shift of gates is kept away from. */
export function gatesToPin({ in: minor }: Shift, { releases, installation }: Question): readonly string[] {
  const known = releases.newGates.filter((gate) => gate.in === minor).map(({ gate }) => gate)
  return undecided(known, installation)
}

/**
 * The command that keeps a default as it was; what depends on what is wanted is filled in with the gates that are known to hurt, behind
 * those that are listed: a merge patch replaces a list. Undefined where there is nothing to fill in.
 */
export function pinCommand(shift: Shift, question: Question): string | undefined {
  const { pin, command } = shift
  if (command !== undefined || pin === undefined) return command
  const { installation } = question
  const [path = '', text] = pin.split(/:\s*/u)
  const gates = gatesToPin(shift, question)
  if (text === undefined && gates.length === 0) return undefined
  const value =
    text === undefined
      ? [...gatesOf(installation).disabledFeatureGates, ...gates]
      : /^\d+$/u.test(text)
        ? Number(text)
        : text
  const { name, namespace } = installation
  return `kubectl -n ${namespace} patch kubevirt ${name} --type=merge -p '${JSON.stringify(patchOf(path, value))}'`
}
