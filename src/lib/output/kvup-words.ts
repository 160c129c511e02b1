import { shellWord } from '../kube/shell-line.ts'

/** Why a VM that was named by `--exclude` is not moved. */
export const leftOutText = 'left out by --exclude'

const flags = { namespace: '-n', labels: '-l', node: '--node' } as const

type Narrowing = keyof typeof flags

/** Which VMs were asked for. */
type Asked = Readonly<Partial<Record<Narrowing, string | undefined>>>

/** What each command can be narrowed by. */
export const narrowedBy = {
  'kvup workloads restart': ['namespace', 'labels'],
  'kvup workloads restart-required': ['namespace', 'labels'],
  'kvup workloads migrations': ['namespace'],
  'kvup workloads outdated': ['namespace', 'labels', 'node'],
  'kvup workloads unblock --all': ['namespace'],
  'kvup workloads update': ['namespace', 'labels', 'node'],
} as const satisfies Record<string, readonly Narrowing[]>

export type NarrowedCommand = keyof typeof narrowedBy

/** The command for the VMs that were asked for and, as far as it can be narrowed, no others: a next step is pasted as it stands. */
export function narrowedLine(command: NarrowedCommand, selection: Asked): string {
  const words = narrowedBy[command].flatMap((by) => {
    const value = selection[by]
    return value === undefined ? [] : [flags[by], shellWord(value)]
  })
  return [command, ...words].join(' ')
}

/** Whether the command can be kept to these VMs at all. */
export function canNarrow(command: NarrowedCommand, selection: Asked): boolean {
  const can: readonly Narrowing[] = narrowedBy[command]
  return (['namespace', 'labels', 'node'] as const).every(
    (by) => selection[by] === undefined || can.includes(by),
  )
}

/** The command that gives somebody the rights of a role; what is behind the blanks is for a person. */
export const roleRemedy = (role: 'kvup-view' | 'kvup-upgrade' | 'kvup-olm'): string =>
  `kvup rbac ${role} | kubectl apply -f -     then bind it to this user`

/** Why KubeVirt moves nothing while it has no methods, in the same words everywhere: kvup borrowed them, or there are none. */
export const noMethodsText = (held: boolean): string =>
  held ? 'automatic VM updates are paused' : 'automatic VM updates are off'
