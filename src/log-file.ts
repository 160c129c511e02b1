import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs'
import { usageError } from './lib/kube/errors.ts'
import type { Clock } from './lib/kube/clock.ts'
import type { OpenPrinter } from './lib/output/open-printer.ts'
import type { Stream } from './lib/output/terminal.ts'

interface LogFileOptions {
  clock: Pick<Clock, 'now'>
  /** Of this process; undefined where a system has none. */
  uid: number | undefined
  /** Told once when nothing can be written any more: the command goes on. */
  failed: (why: string) => void
}

/** What a pipe would show begins with the time of day; the log has the whole time of its own. */
const timeOfDay = /^\d\d:\d\d:\d\d /u

/**
 * `--log-file`: lines are appended, each with its time (RFC 3339, UTC), and are on the disk when `write` returns. Only this user can read the file. A link, a pipe, a
 * device and the file of somebody else are refused: in a folder that others can write to, such a name leads where they want. Throws `usage`.
 */
export function openLogFile(file: string, { clock, uid, failed }: LogFileOptions): Stream {
  const descriptor = openSafely(file, uid)
  let begun = ''
  let isBroken = false
  return {
    write(text) {
      if (isBroken) return
      const lines = `${begun}${text}`.split('\n')
      begun = lines.pop() ?? ''
      const at = clock
        .now()
        .toISOString()
        .replace(/\.\d+Z$/u, 'Z')
      const stamped = lines.map((line) => `${at} ${line.replace(timeOfDay, '')}`.trimEnd())
      try {
        if (stamped.length > 0) writeSync(descriptor, `${stamped.join('\n')}\n`)
      } catch (error) {
        isBroken = true
        failed(whyNot(error))
      }
    },
  }
}

function openSafely(file: string, uid: number | undefined): number {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let descriptor: number
  // Elsewhere it is stdout, which has the answer.
  if (file === '' || file === '-') throw refused(file === '' ? "''" : file, 'it is no name of a file')
  try {
    // A pipe that nobody reads is refused instead of waited for.
    descriptor = openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600)
  } catch (error) {
    throw refused(file, whyNot(error))
  }
  const { isPlain, why } = judged(fstatSync(descriptor), uid)
  if (!isPlain) {
    closeSync(descriptor)
    throw refused(file, why)
  }
  fchmodSync(descriptor, 0o600)
  return descriptor
}

function judged(
  found: { isFile(): boolean; uid: number; nlink: number },
  uid: number | undefined,
): { isPlain: boolean; why: string } {
  if (!found.isFile()) return { isPlain: false, why: 'it is not a regular file' }
  if (uid !== undefined && found.uid !== uid) return { isPlain: false, why: 'it belongs to another user' }
  return { isPlain: found.nlink <= 1, why: 'it has another name as well (a hard link)' }
}

/** In words, where the system gives a code alone. */
const inWords: Readonly<Record<string, string>> = {
  ELOOP: 'it is a symbolic link',
  ENXIO: 'it is a pipe or a device',
  EISDIR: 'it is a folder',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'that disk can only be read',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
}

function whyNot(error: unknown): string {
  const { code = '' } = error as { code?: string }
  return inWords[code] ?? (error instanceof Error ? error.message : String(error))
}

const refused = (file: string, why: string) =>
  usageError('log-file', `the log cannot be written to ${file}: ${why}`, {
    remedy: 'name a file of your own, or one that is not there yet: --log-file FILE',
  })

/** Everything on the screen, and the same in the log. */
export function withLog(printer: OpenPrinter, log: OpenPrinter): OpenPrinter {
  return {
    result(document, view, status) {
      printer.result(document, view, status)
      log.result(document, view, status)
    },
    rows(kind, view) {
      const both = [printer.rows(kind, view), log.rows(kind, view)] as const
      return {
        add: (rows) => both.forEach((one) => one.add(rows)),
        end: (document, status) => both.forEach((one) => one.end(document, status)),
      }
    },
    // What reads as before is no line of a log.
    unchanged: (document, view) => printer.unchanged(document, view),
    event(event) {
      printer.event(event)
      log.event(event)
    },
    observe: (observation) => printer.observe?.(observation),
    timeBy(clock) {
      printer.timeBy?.(clock)
      log.timeBy?.(clock)
    },
    awaiting: (what) => printer.awaiting(what),
    note(line) {
      printer.note(line)
      log.note(line)
    },
    screen(lines) {
      printer.screen?.(lines)
      log.screen?.(lines)
    },
    warn(line) {
      printer.warn(line)
      log.warn(line)
    },
    finish(error) {
      printer.finish(error)
      log.finish(error)
    },
    live: printer.live,
  }
}
