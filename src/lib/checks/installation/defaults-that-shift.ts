import { pinCommand } from '../pin-command.ts'
import { at } from '../field.ts'
import type { Check } from '../check.ts'
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
    const { releases, installation } = question
    const hop = hopOf(question)
    if (hop === undefined) return []
    return releases.shifts
      .filter((shift) => enters(hop, shift.in))
      .filter(({ field }) => field === undefined || at(installation.kubevirt, field) === undefined)
      .map((shift) => ({
        id: 'defaults-that-shift',
        level: 'warning',
        summary: shift.summary,
        remedy: [pinCommand(shift, question)].flatMap((command) => command ?? []),
      }))
  },
}
