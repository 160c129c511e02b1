import type { Shift } from '../releases/releases.ts'
import type { Question } from './check.ts'
import { patchOf } from './field.ts'

/** The command that keeps a default as it was; what depends on what is wanted is filled in with the gates that are known to hurt. */
export function pinCommand({ pin, command, in: minor }: Shift, question: Question): string | undefined {
  if (command !== undefined || pin === undefined) return command
  const [path = '', text] = pin.split(/:\s*/u)
  const gates = question.releases.newGates.filter((gate) => gate.in === minor).map(({ gate }) => gate)
  const value = text === undefined ? gates : /^\d+$/u.test(text) ? Number(text) : text
  const { name, namespace } = question.installation
  return `kubectl -n ${namespace} patch kubevirt ${name} --type=merge -p '${JSON.stringify(patchOf(path, value))}'`
}
