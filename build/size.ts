import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

/**
 * How heavy kvup is, and the ceiling of the order under way. `node build/size.ts` prints a line per room, beside what size.json has for it, and exits with 1 where a
 * ceiling is passed; `--write` puts today's figures into size.json. Characters have a ceiling too, so that joined lines save nothing.
 */

/** Lines are lines, `characters` are without blanks, `json` is in bytes. */
interface Size {
  lines: number
  characters: number
}

interface Sizes {
  /** The order under way, and what none of its commits may pass. */
  ceiling: { order: string; src: Size; test: Size; build: Size; bin: Size; json: number }
  /** At the last `--write`. */
  now: { src: Size; test: Size; build: Size; bin: Size; json: number; rooms: Record<string, number> }
}

const file = new URL('size.json', import.meta.url)
const code = /\.(?:[cm]?[jt]s|tsx)$/u
const roots = ['src', 'test', 'build', 'bin'] as const

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...roots], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((name) => name !== '')

const sizes = new Map<string, Size>()
let json = 0
for (const name of tracked) {
  const text = read(name)
  if (text === undefined) continue
  if (name.startsWith('src/') && name.endsWith('.json')) json += Buffer.byteLength(text)
  if (code.test(name))
    sizes.set(name, { lines: text.split('\n').length - 1, characters: text.replaceAll(/\s/gu, '').length })
}

/** A file that was just deleted is listed until that is committed. */
function read(name: string): string | undefined {
  try {
    return readFileSync(name, 'utf8')
  } catch {
    return undefined
  }
}

function sizeOf(isIn: (name: string) => boolean): Size {
  const found = [...sizes].filter(([name]) => isIn(name)).map(([, size]) => size)
  return {
    lines: found.reduce((sum, { lines }) => sum + lines, 0),
    characters: found.reduce((sum, { characters }) => sum + characters, 0),
  }
}

/** `src/lib/vms/…` is in vms, `src/commands/…` in commands, what lies in src itself in root. */
function roomOf(name: string): string | undefined {
  const { lib, other } = /^src\/(?:lib\/(?<lib>[^/]+)\/|(?<other>[^/]+)\/|)/u.exec(name)?.groups ?? {}
  return name.startsWith('src/') ? (lib ?? other ?? 'root') : undefined
}

const rooms = [...new Set([...sizes.keys()].flatMap((name) => roomOf(name) ?? []))].toSorted()
const now: Sizes['now'] = {
  ...(Object.fromEntries(
    roots.map((root) => [root, sizeOf((name) => name.startsWith(`${root}/`))]),
  ) as Record<(typeof roots)[number], Size>),
  json,
  rooms: Object.fromEntries(rooms.map((room) => [room, sizeOf((name) => roomOf(name) === room).lines])),
}

const saved = JSON.parse(readFileSync(file, 'utf8')) as Sizes
const over: string[] = []
const counted = (value: number) => value.toLocaleString('en-US').padStart(10)

function line(name: string, value: number, before: number | undefined, ceiling?: number): void {
  const limit = ceiling === undefined ? '' : `  ceiling ${counted(ceiling)}`
  console.log(`${name.padEnd(18)}${counted(value)}  was ${counted(before ?? 0)}${limit}`)
  if (ceiling !== undefined && value > ceiling) over.push(`${name}: ${value} is over ${ceiling}`)
}

for (const room of rooms) line(`  ${room}`, now.rooms[room] ?? 0, saved.now.rooms[room])
for (const root of roots) {
  line(`${root} lines`, now[root].lines, saved.now[root].lines, saved.ceiling[root].lines)
  line(`${root} characters`, now[root].characters, saved.now[root].characters, saved.ceiling[root].characters)
}
line('src JSON bytes', now.json, saved.now.json, saved.ceiling.json)

if (process.argv.includes('--write')) writeFileSync(file, `${JSON.stringify({ ...saved, now }, null, 2)}\n`)
for (const one of over)
  console.error(`error: the ceiling of the order ${saved.ceiling.order} is passed: ${one}`)
if (over.length > 0) process.exitCode = 1
