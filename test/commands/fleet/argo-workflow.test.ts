import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { fleetStage } from './fleet-stage.ts'

interface Step {
  template: string
  arguments?: { parameters: { value: string }[] }
}

interface Template {
  name: string
  steps?: Step[][]
  container?: { args: string[] }
}

const shape = () => ({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 1 }) as const
const planLine =
  'fleet plan --contexts prod-* --canary prod-0 --wave-size 2 --soak 5s --to v1.8.4 --method image-tag'.split(
    ' ',
  )

async function staged() {
  const names = ['prod-0', 'prod-1', 'prod-2']
  const stage = await fleetStage(names, shape)
  onTestFinished(() => stage.stop())
  const planned = await stage.run([...planLine, '--to-file', 'fleet-plan.yaml', '-o', 'argo-workflow'])
  expect({ code: planned.code, said: planned.stderr }).toMatchObject({ code: 0 })
  const { spec } = parse(planned.stdout) as { spec: { templates: Template[] } }
  const [waves] = spec.templates
  /** What Argo and the kubelet do of a step: its parameter, and the files where the pod has them. */
  const carry = async ({ template, arguments: given }: Step) => {
    const [name = ''] = given?.parameters.map(({ value }) => value) ?? []
    const { container } = spec.templates.find((one) => one.name === template) ?? {}
    if (container === undefined) return { code: 0, stderr: 'it is a suspend' }
    const line = container.args.map((word) =>
      word
        .replace('{{inputs.parameters.cluster}}', name)
        .replace('/plan/', `${stage.folder}/`)
        .replace('/kubeconfig/config', join(stage.folder, 'kubeconfig')),
    )
    return stage.run(line, `pod-${name}`)
  }
  return { ...stage, names, steps: waves?.steps ?? [], carry }
}

test('the lines of the workflow, wave by wave, upgrade each cluster once and end the fleet run', async () => {
  const stage = await staged()
  const { steps, carry, names } = stage
  const writes = (name: string) => stage.writes(name)
  expect(steps.map((group) => group.length)).toEqual([1, 1, 2, 1])
  // A step whose earlier wave is not done refuses, with a code that is not tried again.
  const [early] = steps[2] ?? []
  expect(early && (await carry(early))).toMatchObject({ code: 3 })
  expect(names.map(writes)).toEqual([0, 0, 0])
  for (const group of steps) {
    const ended = await Promise.all(group.map(carry))
    expect(ended.filter(({ code }) => code !== 0)).toEqual([])
  }
  for (const name of names) {
    expect(stage.journal(name).match(/"what":"finished"/gu)).toHaveLength(1)
    expect(stage.journal(name)).toContain('"over":true')
    const { stdout } = await stage.run(['status', '--context', name, '-o', 'jsonpath={.observed.version}'])
    expect(stdout.trim()).toBe('v1.8.4')
  }
  // Tried again, a step finds what is done, and writes nothing.
  const before = names.map(writes)
  for (const step of [steps[2]?.[0], steps.at(-1)?.[0]])
    expect(step && (await carry(step))).toMatchObject({ code: 0 })
  expect(names.map(writes)).toEqual(before)
})

test('a workflow of a plan that is saved nowhere is refused', async () => {
  const stage = await fleetStage(['prod-0'], shape)
  onTestFinished(() => stage.stop())
  const ran = await stage.run(['fleet', 'plan', '--contexts', '*', '--to', 'v1.8.4', '-o', 'argo-workflow'])
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toContain('--to-file fleet-plan.yaml')
})
