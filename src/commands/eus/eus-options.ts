import { InvalidArgumentError, Option } from 'commander'
import { acceptWithReason, dryRunOption } from '../change-options.ts'

/** What a plan of a window is made from: `kvup eus plan` and `kvup eus run` share them, and a sealed plan keeps their values. */
export const eusPlanningFlags = (): Option[] => [
  new Option(
    '--to <minor>',
    'minor of the platform to end at, such as 4.20; default: the next with extended support',
  ),
  new Option(
    '--graph-file <file>',
    'update graph as the update service answers it (JSON): the whole way is known then',
  ),
  new Option(
    '--catalog-file <file>',
    'file-based catalog of the minor at the end: the way of the operator is known then',
  ),
  new Option('--releases <file>', 'release data to judge by instead of the built-in'),
  acceptWithReason(),
]

const list = (value: string, before: string[]) => [...before, value]

const names = (value: string, before: string[]) => [...before, ...value.split(',').map((one) => one.trim())]

function approval(value: string): 'Manual' | 'Automatic' {
  if (value === 'Manual' || value === 'Automatic') return value
  throw new InvalidArgumentError('It takes Manual or Automatic.')
}

/** What may be approved: `kvup eus run` and `kvup eus abort`, which see a hop of the operator to its end, share them. */
export const approvingFlags = (): Option[] => [
  new Option(
    '--approve',
    'approve the InstallPlans that are exactly the next hop; otherwise end before each',
  ),
  new Option('--approve-also <name>', 'a CSV or package that the same InstallPlan may install (repeatable)')
    .argParser(list)
    .default([], 'none'),
]

/** How steps of a window are carried out: `kvup eus run`, `abort` and `restore` share them. */
export const windowFlags = (): Option[] => [
  new Option('--pool-order <names>', 'pools in the order in which they are unpaused, with commas')
    .argParser(names)
    .default([], 'by name'),
  new Option('--settle <duration>', 'how long everything has to stay good before it counts').default('30s'),
  new Option(
    '--timeout <duration>',
    'how long the whole run may take; a window takes days, and running again goes on',
  ).default('24d'),
  new Option('--deadline <time>', 'start nothing that would pass it: 04:30 or 2026-11-22T04:30:00Z'),
  new Option('--until <step>', 'end after this step'),
  new Option('--pause-before <step>', 'end before this step (repeatable)')
    .argParser(list)
    .default([], 'none'),
  dryRunOption(),
  new Option('--take-over <holder>', 'take the lock of this holder, as history and the error print it'),
]

/** What only `kvup eus run` takes. */
export const runFlags = (): Option[] => [
  new Option('--plan <file>', 'carry out this plan of kvup eus plan, unchanged or not at all; - for stdin'),
  new Option(
    '--approval <how>',
    'approval of the Subscription while the window is open: Manual or Automatic',
  ).argParser(approval),
  new Option(
    '--leave-requested',
    'leave an update that the platform refused requested: it starts by itself later',
  ),
]
