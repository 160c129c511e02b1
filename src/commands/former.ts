import { usageError } from '../lib/kube/errors.ts'
import type { KnownCommand } from '../lib/output/usage-remedy.ts'
import { connection, outputOptions } from './command-options.ts'
import { entries, type Entry } from './entries.ts'

const rehearsed =
  'kvup rehearse --to VERSION     plays the upgrade of KubeVirt by image tag, manifest or path'

const planned = 'kvup eus plan     the steps of an EUS upgrade, and what blocks them'
const behindCanary = '-o argo-workflow     waits behind the canary until a person has looked'

/**
 * What left kvup, as it was typed behind `kvup`, and what does it now, a line each: commands, then flags behind the command that had them (bare: of any), then formats.
 * A row says nothing while the command tree has what it is about.
 */
export const former: readonly (readonly [was: string, ...now: readonly string[]])[] = [
  [
    'fleet upgrade',
    "kvup fleet plan --contexts 'prod-*' --to VERSION --to-folder plans -o argo-workflow     group after group, one kvup upgrade per cluster",
    'kvup upgrade --context CLUSTER --to VERSION     upgrades one',
  ],
  [
    'report',
    'kvup history RUN -o html > report.html     a page of a run',
    'kvup check -o html > check.html     likewise of a plan, a rehearsal, and each run while it goes on',
  ],
  ['job status', 'kubectl get jobs,pods -A -l app.kubernetes.io/managed-by=kvup'],
  ['job logs', 'kubectl logs -n NAMESPACE job/NAME'],
  ['job delete', 'the last comment of what kvup job prints is the line that deletes all of it'],
  ['workloads restore', 'kvup restore-settings     restores every temporary change'],
  ['workloads hold', 'kvup workloads pause-updates'],
  ['eus restore', 'kvup restore-settings CHANGE     restores one, as kvup history names it'],
  ['rollout', 'kvup workloads live-update', 'kvup workloads restart-required', 'kvup workloads restart'],
  [
    'measure',
    'kvup upgrade --to VERSION --measure     measures while it upgrades; kvup eus run and kvup workloads update as well',
  ],
  ['job --apply', 'kvup job -- LINE | kubectl create -f -'],
  ['job --schedule', 'kvup job -- LINE | kubectl create -f -     when it should begin'],
  ['job --time-zone', 'kvup job -- LINE | kubectl create -f -     when it should begin'],
  ['fleet plan --to-file', '--to-folder FOLDER     saves the plan of each cluster, as UID.yaml'],
  ['fleet plan --wave-size', '--group-size'],
  ['fleet plan --soak', behindCanary],
  ['fleet plan --stop-after', 'the lines for CI and the workflow of Argo stop at any end but 0'],
  ['fleet plan --stop-on-alert', behindCanary],
  ['fleet plan --alerts', behindCanary],
  ['rehearse --fault', rehearsed],
  ['rehearse --faults', rehearsed],
  ['rehearse --serve', rehearsed],
  ['rehearse --speed', rehearsed],
  ['rehearse --eus', rehearsed, planned],
  ['rehearse --graph-file', rehearsed, planned],
  ['rehearse --catalog-file', rehearsed, planned],
  ['rehearse --approval', rehearsed, planned],
  ['rehearse --approve-also', rehearsed, planned],
  ['--tcp', '--measure alone measures the API and the VMs'],
  [
    '--stop-if',
    '--measure alone: no wave of VMs begins while an alert fires that did not when the run began',
  ],
  [
    'workloads forecast --probe',
    'kubectl drain NODE --ignore-daemonsets --delete-emptydir-data --dry-run=server --timeout=20s     asks the server about each eviction; a VM whose eviction is denied as it triggers an evacuation would migrate',
  ],
  ['workloads forecast --score', 'kvup workloads outdated     lists the VMs that are left'],
  ['--settle', '--stable-for'],
  ['--leave-held', '--leave-paused'],
  ['--no-hold-workloads', '--no-pause-updates'],
  ['--stall-timeout', '--stalled-after'],
  ['-o prometheus', '-o json', 'kvup check -o junit', 'kvup check -o github'],
  ['-o sarif', '-o json', 'kvup check -o junit', 'kvup check -o github'],
]

/** Throws `usage` for a command, a flag or a format that kvup once had, with what does it now. To be called before the words are parsed. */
export function refuseFormer(root: KnownCommand, argv: readonly string[]): void {
  const { words, behind, flags, command } = typedOf(root, argv)
  if (words[0]?.startsWith('__')) return
  const gone =
    command === undefined
      ? [{ of: words.slice(0, -1), what: words.at(-1) ?? '' }]
      : [behind, ...flags.filter((flag) => !isThere(command, flag))].map((what) => ({ of: words, what }))
  for (const { of, what } of gone) {
    const whole = [...of, what].join(' ')
    const row = former.find(([was]) => was === whole || (what.startsWith('-') && was === what))
    if (row === undefined) continue
    throw usageError('usage', `${[root.name(), ...of].join(' ')} has no ${what} any more`, {
      remedy: row.slice(1).map((line) => line.replace(/^kvup /u, `${root.name()} `)),
    })
  }
}

/** The words down to a command, or to the first that is none (`command` is undefined then), the word right behind it, and the flags and formats before `--`. */
function typedOf(root: KnownCommand, argv: readonly string[]) {
  const words: string[] = []
  const flags: string[] = []
  let behind = ''
  let command: KnownCommand | undefined = root
  for (let at = 0; at < argv.length && argv[at] !== '--'; at++) {
    const word = argv[at] ?? ''
    if (word.startsWith('-')) {
      const { flag, wantsMore } = flagOf(word, argv[at + 1])
      flags.push(flag)
      if (wantsMore) at++
    } else if (command?.commands.length && word !== 'help') {
      words.push(word)
      command = command.commands.find((one) => one.name() === word)
    } else if (argv[at - 1] === words.at(-1)) behind = word
  }
  return { words, behind, flags, command }
}

/** A format with the `-o` before it; `wantsMore`: the next word is its value. */
function flagOf(word: string, next: string | undefined): { flag: string; wantsMore: boolean } {
  const [, long, short = '', joined = ''] = /^(?:(--[^=]+)|(-.))=?(.*)$/su.exec(word) ?? []
  const known = [...connection, ...outputOptions].find((one) => one.long === long || one.short === short)
  const wantsMore = known?.required === true && joined === ''
  if (known?.short === '-o') return { flag: `-o ${wantsMore ? next : joined}`, wantsMore }
  return { flag: long ?? short, wantsMore }
}

/** Whether this command takes the flag, or any command makes the format. */
function isThere({ options }: KnownCommand, flag: string): boolean {
  const makes = ({ formats = [], under = [] }: Entry): boolean =>
    formats.some((format) => flag === `-o ${format}`) || under.some(makes)
  return options.some(({ long }) => long === flag) || entries.some(makes)
}
