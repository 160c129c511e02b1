import { kubernetesWindow } from '../../releases/known-releases.ts'
import { minorOf, type Version, versionOf } from '../../releases/version.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'
import { kubernetesMinor, wayTo } from './way.ts'

/** Facts 7: each minor of KubeVirt supports three of Kubernetes. */
export const kubernetesSupported: Check = {
  id: 'kubernetes-window',
  group: 'path',
  title: 'Kubernetes is supported before and after',
  needs: ['serverVersion', 'kubevirts'],
  blocks: true,
  assess(question) {
    const runs = kubernetesMinor(question.evidence.serverVersion)
    if (runs === undefined) return []
    const now = misfit(versionOf(question.standing.observed.version), runs, question)
    const after = misfit(question.target, runs, question)
    return [
      ...(now ? [today(now, question.target !== undefined && after === undefined)] : []),
      ...(after ? [then(after, question, now)] : []),
    ]
  },
}

interface Misfit {
  version: Version
  runs: number
  is: 'too old' | 'too new'
  window: string
}

function misfit(version: Version | undefined, runs: number, { releases }: Question): Misfit | undefined {
  const window = version && kubernetesWindow(version, releases)
  if (version === undefined || window === undefined) return undefined
  const { min, max, known } = window
  const is = runs < minor(min) ? 'too old' : runs > minor(max) ? 'too new' : undefined
  const by = known ? '' : `, by the rule that each minor moves it by one; known as of ${releases.asOf}`
  return is && { version, runs, is, window: `${min} to ${max}${by}` }
}

/** `isMended`: the version that it goes to supports what runs. */
function today(now: Misfit, isMended: boolean): Finding {
  return {
    id: 'kubernetes-window',
    level: 'warning',
    summary: `${sentence(now)}; it is what runs now`,
    remedy: [isMended ? 'go on: the target supports it' : untilThen(now)],
  }
}

const untilThen = ({ is, version }: Misfit): string =>
  is === 'too new'
    ? 'go on to a KubeVirt that supports it: kvup releases'
    : `take Kubernetes to a minor that ${minorOf(version)} supports`

/** Too new as it was before is no worse after the hop. */
function then(after: Misfit, question: Question, now: Misfit | undefined): Finding {
  const noWorse = after.is === 'too new' && now?.is === 'too new'
  return {
    id: 'kubernetes-window',
    level: noWorse ? 'warning' : 'blocker',
    summary: sentence(after),
    remedy: wayThere(after, question),
  }
}

const sentence = ({ version, runs, is, window }: Misfit) =>
  `Kubernetes 1.${runs} is ${is} for KubeVirt ${minorOf(version)} (${window})`

function wayThere({ version, runs, is }: Misfit, question: Question): readonly string[] {
  const way = is === 'too old' ? wayTo(version, question) : []
  return way.length > 0 ? way : [`choose a version that supports Kubernetes 1.${runs}: kvup releases`]
}

const minor = (text: string) => Number(text.split('.')[1])
