import { expect, onTestFinished, test } from 'vitest'
import { demo } from '../../src/commands/demo/demo.ts'
import type { Context } from '../../src/context.ts'
import type { Document, View } from '../../src/lib/output/printer.ts'
import { paintFor } from '../../src/lib/output/terminal.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { startScenario } from '../../src/simulator/simulated-cluster.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { runText } from '../lib/run-text.ts'

/** What a served demo says before it waits for Ctrl-C, which comes at once. */
async function served(scenario: string, speed?: string) {
  const notes: string[] = []
  const answers: string[] = []
  const written = new Map<string, string>()
  const cx = {
    clock: systemClock,
    printer: {
      note: (line: string) => notes.push(line),
      result: (document: Document, view: View<Document>) =>
        answers.push(
          ...view.text(document, paintFor({ colour: false, unicode: true }), {
            columns: Infinity,
            wide: false,
          }),
        ),
    },
    signal: AbortSignal.abort(),
    world: {
      scratchFile: (name: string) => `/scratch/${name}`,
      writeText: async (file: string, text: string) => written.set(file, text),
    },
  } as unknown as Context
  await demo(cx, { scenario, serve: true, ...(speed !== undefined && { speed }) })
  return { said: notes.join('\n'), answers, files: [...written.keys()], written }
}

test('stdout is one line that a shell can eval; what a person reads is on stderr', async () => {
  const { answers, said } = await served('ocp-eus')
  expect(answers).toEqual(['export KUBECONFIG=/scratch/demo.kubeconfig'])
  expect(said).not.toContain('KUBECONFIG')
  expect(said).toContain('its graph.json: /scratch/graph.json')
})

test('a served platform says how fast its time runs, and a first line with the files that it laid down', async () => {
  const { said, files } = await served('ocp-eus', '60')
  expect(files).toContain('/scratch/graph.json')
  expect(said).toContain(
    'time runs 60 times as fast; begin with: kvup eus plan --graph-file /scratch/graph.json --catalog-file /scratch/catalog.yaml',
  )
})

test('a platform without such a window begins with what is possible there', async () => {
  const { said } = await served('okd')
  expect(said).toContain('begin with: kvup upgrade --to 1.18.1 --method olm')
})

test('where the VMs alone are left to move it begins with them', async () => {
  const { said } = await served('outdated-workloads')
  expect(said).toContain('begin with: kvup workloads outdated')
})

test('a plain one begins with its own release and method', async () => {
  const { said } = await served('image-tag')
  expect(said).toContain('time runs as it does here; begin with: kvup upgrade --to v1.8.4 --method image-tag')
})

test('where a manifest is applied it lies there, and the first line works without the internet', async () => {
  const { said, files, written } = await served('operator-manifest')
  const file = '/scratch/kubevirt-operator.yaml'
  expect(files).toContain(file)
  const line = / begin with: kvup (.+)/u.exec(said)?.[1] ?? ''
  expect(line).toBe(`upgrade --to v1.9.0 --manifest ${file}`)
  const clock = new SimClock()
  const simulated = await startScenario(scenarioNamed('operator-manifest')!, { clock })
  onTestFinished(() => simulated.stop())
  const place = { cluster: simulated.cluster(), clock, files: Object.fromEntries(written) }
  expect(await runText([...line.split(' '), '--dry-run=client'], place)).toMatchObject({ code: 0 })
})

test('the line of a scenario takes the risks along that it is about', async () => {
  const { said } = await served('stored-version')
  expect(said).toContain(
    'begin with: kvup upgrade --to v1.9.0 --manifest /scratch/kubevirt-operator.yaml --accept crd-stored-versions --timeout 3m',
  )
})

test('the default scenario is one that nothing is to be said against', async () => {
  const clock = new SimClock()
  const simulated = await startScenario(scenarioNamed('image-tag')!, { clock })
  onTestFinished(() => simulated.stop())
  const { code, out } = await runText(['check', '--to', 'v1.8.4', '-o', 'json'], {
    cluster: simulated.cluster(),
    clock,
  })
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ counts: { blockers: 0, warnings: 0 } })
})
