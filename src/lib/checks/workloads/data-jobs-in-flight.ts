import { itemsOf } from '../../facts/known.ts'
import type { Check, Question } from '../check.ts'
import { counted } from '../../system/counted.ts'
import type { Finding } from '../finding.ts'
import { someOf } from '../../system/some-of.ts'
import { instancesOf } from './instances-of.ts'

/** Night C5. What KubeVirt itself works on is interrupted; CDI's imports and an export that waits for a download are only told of. */
export const dataJobsInFlight: Check = {
  id: 'data-jobs-in-flight',
  group: 'workloads',
  title: 'no snapshot, restore, clone, export, backup or import is under way',
  needs: ['dataJobs', 'instances'],
  blocks: true,
  assess: (question) => [...jobs(question), ...frozen(question)],
}

type Job = { kind: string; name: string; phase: string }

function jobs({ evidence }: Question): Finding[] {
  const all = itemsOf(evidence.dataJobs)
  const harmless = all.filter(goesOn)
  const own = all.filter((job) => !goesOn(job))
  return [
    ...own.slice(0, 1).map((job): Finding => ({
      id: 'data-jobs-in-flight',
      level: 'blocker',
      summary: `${counted(own.length, 'job', ['is', 'are'])} not finished: ${someOf(own.map(said))}; the roll interrupts what they wait for`,
      objects: own.map(objectOf),
      remedy: [lookAt(job)],
    })),
    ...harmless.slice(0, 1).map((job): Finding => ({
      id: 'data-jobs-in-flight',
      level: 'warning',
      summary: `${counted(harmless.length, 'job', ['is', 'are'])} open: ${someOf(harmless.map(said))}; a transfer that runs while virt-exportproxy is replaced has to be repeated`,
      objects: harmless.map(objectOf),
      remedy: [lookAt(job)],
    })),
  ]
}

/** CDI is not rolled; an export that is Ready may be one that nobody downloads. */
const goesOn = ({ kind, phase }: Job): boolean =>
  kind === 'DataVolume' || (kind === 'VirtualMachineExport' && phase === 'Ready')

const said = ({ kind, name, phase }: Job): string => `${kind} ${name} (${phase})`
const objectOf = ({ kind, name }: Job): string => `${kind.toLowerCase()}/${name}`

function lookAt({ kind, name }: Job): string {
  const [namespace, rest] = name.includes('/') ? name.split('/') : [undefined, name]
  return `kubectl ${namespace === undefined ? '' : `-n ${namespace} `}get ${kind.toLowerCase()} ${rest} -o yaml`
}

function frozen(question: Question): Finding[] {
  const { count, names } = instancesOf(question).frozen
  const [namespace = '', name = ''] = (names[0] ?? '').split('/')
  if (count === 0) return []
  return [
    {
      id: 'data-jobs-in-flight',
      level: 'blocker',
      summary: `the file systems of ${counted(count, 'VM', ['is', 'are'])} frozen (${someOf(names, count)}): a backup holds it still`,
      objects: names,
      remedy: [
        `kubectl -n ${namespace} get virtualmachineinstance ${name} -o jsonpath='{.status.fsFreezeStatus}'`,
      ],
    },
  ]
}
