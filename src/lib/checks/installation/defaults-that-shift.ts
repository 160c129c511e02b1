import { gatesToPin, pinCommand } from '../pin-command.ts'
import { at } from '../field.ts'
import type { Shift } from '../../releases/releases.ts'
import type { Check, Question } from '../check.ts'
import { enters, hopOf } from '../hop-of.ts'

/** Night C2, facts 1.3 and 5: what changes where nobody has said what is wanted. */
export const defaultsThatShift: Check = {
  id: 'defaults-that-shift',
  group: 'installation',
  title: 'no default changes that this cluster relies on',
  needs: ['kubevirts'],
  needsTarget: true,
  blocks: false,
  assess(question) {
    const { releases } = question
    const hop = hopOf(question)
    if (hop === undefined) return []
    return releases.shifts
      .filter((shift) => enters(hop, shift.in))
      .filter((shift) => isOpen(shift, question))
      .map((shift) => ({
        id: 'defaults-that-shift',
        level: 'warning',
        summary: shift.summary,
        remedy: [pinCommand(shift, question)].flatMap((command) => command ?? []),
      }))
  },
}

/** Where the field is set nothing changes; but a list of gates decides only on those that are in it. */
function isOpen(shift: Shift, question: Question): boolean {
  const { field } = shift
  const set = field === undefined ? undefined : at(question.installation.kubevirt, field)
  return set === undefined || (Array.isArray(set) && gatesToPin(shift, question).length > 0)
}
