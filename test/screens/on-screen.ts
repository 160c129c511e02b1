import type { Screen } from './scenario-screens.ts'

/** Words that a screen has to have where this scenario does not get on: a part of what is wrong, and what is wrong with it. */
const causes: Readonly<Record<string, readonly RegExp[]>> = {
  'wrong-tag': [/virt-operator:v1\.8\.5/u, /cannot pull/iu],
  'canary-crash': [/virt-handler/u, /CrashLoopBackOff|crash/iu],
}

/** Scenarios in which something may stall. */
export const mayStall = (scenario: string): boolean => scenario in causes

/** What of a verdict, a next line and a cause does not stand on a screen that has to have it. */
export function lacking(screen: Screen, scenario: string): string[] {
  // The command itself, unless it has scrolled away.
  const text = screen.lines.slice(screen.lines[0]?.startsWith('$ ') ? 1 : 0).join('\n')
  return [
    ...(hasVerdict(screen, text) ? [] : ['verdict']),
    ...(isAtRest(screen, text) || nextLine.test(text) ? [] : ['next line']),
    ...(!isInTrouble(screen) || hasCause(text, scenario) ? [] : ['cause']),
  ]
}

/** A command to type, with the word or the arrow that says so, or a question that is asked. */
const nextLine = /(?:^|\s)(?:Next|Back|Continue|report): +\S|→\s+(?:kvup|kubectl|oc|virtctl) |^\? /mu

const condition =
  /\b(?:healthy|updating|installing|stalled|degraded|interrupted|given up|stopped as asked|is running|out of step|not installed|unknown|waiting)\b/iu
/** A line that names what is judged, and the lines into which it may be broken. */
const head =
  /^(?:KubeVirt|Upgrade|OpenShift|OKD|HyperConverged|EUS|Cluster|The cluster|No cluster)\b(?!:).*(?:\n.*){0,4}/gmu

function hasVerdict({ kind, title, code }: Screen, text: string): boolean {
  const isJudged = [...text.matchAll(head)].some(([lines]) => condition.test(lines))
  if (kind === 'check') return /\bREADY\b|\bNOT CHECKED\b/u.test(text)
  if (kind === 'vms') return /^\d+ (?:outdated|.*VMs)\b/mu.test(text)
  if (kind === 'question')
    return code === undefined ? /\d\s+→\s+v?\d|^\? .*\d/mu.test(text) : /^(?:error: |✖ )/mu.test(text)
  if (kind === 'demo') return code === 0 ? /^✔ .*\d/mu.test(text) : isJudged || /^(?:error: |✖ )/mu.test(text)
  return isJudged || (title.includes('demo') && /\b(?:stalled|degraded)\b/iu.test(text))
}

/** Where all is well and nothing newer is to be had, there is nothing to type. */
function isAtRest({ kind, title }: Screen, text: string): boolean {
  // Which releases an operator's catalog offers is another question.
  if (kind === 'check' && !title.includes('--to') && /^READY$/mu.test(text)) return true
  const isLook = kind === 'bare' || kind === 'status' || kind === 'after'
  return isLook && /\bhealthy\b/u.test(text) && !/\bavailable\b|Next/iu.test(text)
}

/** A run that did not get to its end, and what is seen beside it. */
const isInTrouble = ({ kind, code }: Screen) => kind === 'stalled' || (kind === 'demo' && code === 4)

function hasCause(text: string, scenario: string): boolean {
  // A name that is longer than its column goes on in the next line.
  const joined = [text.replaceAll(/\s+/gu, ' '), text.replaceAll(/\s+/gu, '')]
  return (causes[scenario] ?? [/./u]).every((words) => joined.some((line) => words.test(line)))
}
