import { shorten } from '../system/shorten.ts'
import { onOneLine } from './sanitise.ts'

/** A sentence with a text of the cluster in it: on one line, and of one that goes on for kilobytes the beginning and the end. Documents have all of it. */
export function brief(text: string): string {
  return shorten(onOneLine(text))
}
