import { Option } from 'commander'
import { acceptWithReason } from '../accept-option.ts'

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

export interface EusPlanningOptions {
  to?: string
  graphFile?: string
  catalogFile?: string
  releases?: string
  accept: readonly string[]
}
