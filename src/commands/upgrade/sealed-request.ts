import { withoutLogin } from '../../lib/manifests/source.ts'
import { usageError } from '../../lib/system/errors.ts'
import { shellWord } from '../../lib/system/shell-word.ts'
import type { UpgradeOptions } from './options.ts'

/** The flags that make a plan, in the words of the command line; a sealed plan keeps their values. */
const kept = [
  'to',
  'method',
  'manifest',
  'manifestBase',
  'manifestSha256',
  'via',
  'between',
  'rewriteNamespace',
  'imageRegistry',
  'catalogFile',
  'approveAlso',
  'settle',
  'holdWorkloads',
  'leaveHeld',
  'waitWorkloads',
  'migrations',
  'migrationsTimeout',
  'follow',
] as const satisfies (keyof UpgradeOptions)[]

export type SealedRequest = Pick<UpgradeOptions, (typeof kept)[number]>

/** `chosen`: what `auto` came to, the releases between, and the checksums of the manifests that were read. A login in an address is not kept. */
export function sealedRequest(
  options: UpgradeOptions,
  chosen: Pick<UpgradeOptions, 'method' | 'manifestSha256' | 'via'>,
): SealedRequest {
  const asked = Object.entries({ ...options, ...chosen })
    .filter(([name, value]) => isKept(name) && value !== undefined)
    .map(([name, value]): [string, unknown] => [name, asKept(name, value)])
  return Object.fromEntries(asked) as unknown as SealedRequest
}

const addresses: ReadonlySet<string> = new Set(['manifest', 'manifestBase'])

const asKept = (name: string, value: unknown): unknown =>
  addresses.has(name) && typeof value === 'string' ? withoutLogin(value) : value

/** The same words, where no flag says otherwise: what they mean without a plan. */
const silent: Readonly<Record<string, unknown>> = {
  method: 'auto',
  between: 'wait',
  settle: '30s',
  holdWorkloads: true,
  migrations: 'wait',
  migrationsTimeout: '30m',
}

/**
 * What was typed, with the plan's values for all that makes a plan. `--manifest` may say where the file lies now where its checksum is sealed,
 * and an address may be given its login again. Throws `usage` for a flag that would make another plan.
 */
export function asPlanned(
  typed: UpgradeOptions,
  request: Readonly<Record<string, unknown>>,
  accepted: readonly { id: string; reason?: string }[],
): UpgradeOptions {
  ensureSound(request)
  if (typed.to !== undefined)
    throw usageError('contradiction', '--to and --plan exclude each other: the plan says where to go', {
      remedy: `kvup upgrade --plan ${shellWord(typed.plan ?? 'FILE')}`,
    })
  if (typed.accept.length > 0)
    throw usageError(
      'contradiction',
      '--accept and --plan exclude each other: the plan says which risks are taken',
      {
        remedy: `kvup plan --to ${String(request['to'])} --accept ${typed.accept.join(' --accept ')} -o yaml`,
      },
    )
  const other = kept.find((name) => differs(name, typed[name], request))
  if (other !== undefined)
    throw usageError(
      'contradiction',
      `${flagOf(other)} is not what the plan says (${JSON.stringify(request[other] ?? 'nothing of it')})`,
      { remedy: 'leave it out, or make the plan anew with it' },
    )
  const accept = accepted.map(({ id, reason }) => (reason === undefined ? id : `${id}=${reason}`))
  const { manifest, manifestBase } = typed
  return {
    ...typed,
    ...request,
    ...(manifest !== undefined && { manifest }),
    ...(manifestBase !== undefined && { manifestBase }),
    accept,
  }
}

const choices: Readonly<Record<string, readonly unknown[]>> = {
  method: ['auto', 'image-tag', 'operator-manifest', 'olm'],
  between: ['wait', 'none'],
  migrations: ['wait', 'cancel', 'ignore'],
  holdWorkloads: [true, false],
  leaveHeld: [true, false],
  waitWorkloads: [true, false],
  follow: [true, false],
  rewriteNamespace: [true, false],
}

/** Whoever can make a seal can put anything under it. */
function ensureSound(request: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(request).find(
    ([name, value]) => !isKept(name) || !(choices[name]?.includes(value) ?? typeof value === 'string'),
  )
  if (wrong === undefined && typeof request['to'] === 'string') return
  throw usageError('not-a-plan', `the plan asks for what kvup does not know: ${wrong?.[0] ?? 'no version'}`, {
    remedy: 'kvup plan --to VERSION -o yaml      makes one',
  })
}

function differs(
  name: (typeof kept)[number],
  typed: unknown,
  request: Readonly<Record<string, unknown>>,
): boolean {
  if (name === 'to' || (name === 'manifest' && request['manifestSha256'] !== undefined)) return false
  return typed !== undefined && typed !== silent[name] && asKept(name, typed) !== request[name]
}

const isKept = (name: string): boolean => kept.some((one) => one === name)

/** Whether no flag says the same. */
export const isAsWithout = (name: string, value: unknown): boolean =>
  value === undefined || value === silent[name] || (value === false && name !== 'holdWorkloads')

/** As it is typed: `--image-registry`. */
export function flagOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)
  return name === 'holdWorkloads' ? '--no-hold-workloads' : `--${words}`
}
