import { shellWord } from '../../system/shell-word.ts'
import { narrowedLine } from '../../system/narrowed-line.ts'
import type { Selection } from '../outdated/selection.ts'
import type { Stop } from '../waves/stop-rules.ts'
import { placeOfVm } from '../vm-name.ts'

/** Commands that show what stopped an update, and how it goes on. */
export function remedyFor(
  { reason }: Stop,
  { split, selection }: { split: readonly string[]; selection: Selection },
): readonly string[] {
  const [first] = split
  if (reason === 'two-launchers' && first !== undefined) {
    const { namespace, name } = placeOfVm(first)
    return [
      `kubectl -n ${shellWord(namespace)} get pods -l vm.kubevirt.io/name=${shellWord(name)} -o wide`,
      'end the launcher in which the guest does not run, and look at its disks, before anything else moves (kubevirt issue 18670)',
    ]
  }
  return [
    `${narrowedLine('kvup workloads migrations', selection)}     shows what runs, what waits and what fails`,
    `${narrowedLine('kvup workloads update', selection)}     goes on with what is outdated still`,
  ]
}
