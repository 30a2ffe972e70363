"""typescript, pdf-lib and jszip at work in a guest: others than the guest judge what they made."""

import base64
import hashlib
import io
import json
import subprocess
import zipfile

import harness
import import_world

TRANSPILE = """
import fs from 'node:fs';
import ts from 'typescript';

const source = fs.readFileSync('/project/shapes.ts', 'utf8');
const made = ts.transpileModule(source, {
  compilerOptions: { module: ts.ModuleKind.ES2022, target: ts.ScriptTarget.ES2022, sourceMap: true },
  fileName: 'shapes.ts',
});
fs.writeFileSync('/project/shapes.mjs', made.outputText.replace(/\\n\\/\\/# sourceMappingURL.*\\n?$/, '\\n'));
fs.writeFileSync('/project/shapes.map', made.sourceMapText);
const host = ts.createCompilerHost({});
const program = ts.createProgram(['/project/wrong.ts'], { noEmit: true, strict: true, types: [] }, host);
for (const { code, start, messageText } of ts.getPreEmitDiagnostics(program)) console.log(code, start, messageText);
"""

SHAPES = """\
export enum Kind { Circle = 1, Square }
export interface Shape { readonly kind: Kind; readonly size: number }
export class Named<T extends Shape> {
  constructor(private readonly shape: T, public name: string = Kind[shape.kind]!) {}
  get area(): number {
    const { kind, size } = this.shape;
    return kind === Kind.Circle ? Math.round(Math.PI * size ** 2) : size * size;
  }
}
export const areas = (...shapes: Shape[]): string[] => shapes.map((s) => { const n = new Named(s); return `${n.name}:${n.area}`; });
"""

PDF = """
import fs from 'node:fs';
import { PDFDocument, StandardFonts, degrees, rgb } from 'pdf-lib';

const document = await PDFDocument.create();
document.setTitle('Made by a guest: Grüße');
document.setSubject('of a virtual machine');
const font = await document.embedFont(StandardFonts.Helvetica);
for (let i = 1; i <= 3; i += 1) {
  const page = document.addPage([612, 792]);
  page.drawText(`Page ${i} of 3`, { x: 50, y: 700, size: 18, font, color: rgb(0, 0.4, 0.6), rotate: degrees(i) });
  page.drawRectangle({ x: 40, y: 40, width: 100 * i, height: 30, borderWidth: 1 });
}
const form = document.getForm();
const field = form.createTextField('answer');
field.setText('forty-two');
field.addToPage(document.getPage(2), { x: 50, y: 500, width: 200, height: 24 });
fs.writeFileSync('/project/made.pdf', await document.save());
"""

READ_PDF = """
import fs from 'node:fs';
import { PDFDocument } from 'pdf-lib';

const document = await PDFDocument.load(fs.readFileSync(process.argv[2]), { updateMetadata: false });
console.log(JSON.stringify({
  title: document.getTitle(), subject: document.getSubject(), producer: document.getProducer(),
  pages: document.getPages().map((page) => [page.getWidth(), page.getHeight()]),
  answer: document.getForm().getTextField('answer').getText(),
}));
"""

ARCHIVE = """
import crypto from 'node:crypto';
import fs from 'node:fs';
import JSZip from 'jszip';

const zip = new JSZip();
const payload = crypto.createHash('sha512').update('seed').digest();
const noise = Buffer.concat(Array.from({ length: 2000 }, (_, i) => crypto.createHash('sha512').update(payload).update(String(i)).digest()));
zip.file('README.txt', 'a line that repeats\\n'.repeat(5000));
zip.folder('data').file('noise.bin', noise).file('ünïcode.json', JSON.stringify({ answer: 42 }));
zip.file('empty', '');
const bytes = await zip.generateAsync({ type: 'uint8array', compression: 'DEFLATE', compressionOptions: { level: 6 } });
fs.writeFileSync('/project/made.zip', bytes);

const sums = {};
for (const file of ['/project/made.zip', '/project/given.zip']) {
  const read = await JSZip.loadAsync(fs.readFileSync(file), { checkCRC32: true });
  for (const [name, entry] of Object.entries(read.files)) {
    if (!entry.dir) sums[name] = crypto.createHash('sha256').update(await entry.async('nodebuffer')).digest('hex');
  }
}
console.log(JSON.stringify({ sums, noise: noise.toString('base64') }));
"""


class GuestPackages(harness.TareTest):
    def setUp(self):
        super().setUp()
        self.packages = import_world.packages()
        if self.packages is None:
            self.skipTest("run: tare targets install import")
        known = {t["id"]: t for t in json.loads(self.tare("targets", "--json").stdout)}
        self.node = known["node"]["program"]
        self.project = self.folder / "project"
        self.project.mkdir()

    def guest(self, program):
        """Runs a module in a guest with the packages above it; gives what it said."""
        (self.project / "main.mjs").write_text(program)
        start = "import('/project/main.mjs').catch((error) => { console.error(error); process.exit(1); })"
        result = self.tare("guest", "run", "--memory", 512, "--mount", f"{self.project}:/project:rw",
                           "--mount", f"{self.packages}:/node_modules", "-e", start)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def host(self, name, program, *arguments):
        folder = self.folder / "host"
        folder.mkdir(exist_ok=True)
        if not (folder / "node_modules").exists():
            (folder / "node_modules").symlink_to(self.packages)
        (folder / name).write_text(program)
        result = subprocess.run([self.node, folder / name, *arguments], capture_output=True, text=True, env=self.environment())
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_typescript_transpiles_a_file_and_checks_another(self):
        (self.project / "shapes.ts").write_text(SHAPES)
        (self.project / "wrong.ts").write_text("const n: number = 'text';\nexport {};\n")
        self.assertEqual(self.guest(TRANSPILE), "2322 6 Type 'string' is not assignable to type 'number'.\n")
        made = (self.project / "shapes.mjs").read_text()
        self.assertNotIn("interface", made)
        use = "const { areas, Kind } = await import(process.argv[2]);\n" \
              "console.log(areas({ kind: Kind.Circle, size: 2 }, { kind: Kind.Square, size: 3 }).join());\n"
        self.assertEqual(self.host("use.mjs", use, str(self.project / "shapes.mjs")), "Circle:13,Square:9\n")
        source_map = json.loads((self.project / "shapes.map").read_text())
        self.assertEqual((source_map["version"], source_map["sources"]), (3, ["shapes.ts"]))

    def test_a_pdf_of_a_guest_is_one_to_the_host(self):
        self.assertEqual(self.guest(PDF), "")
        made = (self.project / "made.pdf").read_bytes()
        self.assertTrue(made.startswith(b"%PDF-1.7") and made.rstrip().endswith(b"%%EOF"), made[:20])
        read = json.loads(self.host("read.mjs", READ_PDF, str(self.project / "made.pdf")))
        self.assertEqual((read["title"], read["subject"], read["answer"]), ("Made by a guest: Grüße", "of a virtual machine", "forty-two"))
        self.assertIn("pdf-lib", read["producer"])
        self.assertEqual(read["pages"], [[612, 792]] * 3)

    def test_archives_go_from_a_guest_to_the_host_and_back(self):
        given = io.BytesIO()
        with zipfile.ZipFile(given, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("given/by the host.txt", "hello, guest\n" * 1000)
        (self.project / "given.zip").write_bytes(given.getvalue())
        said = json.loads(self.guest(ARCHIVE))
        noise = base64.b64decode(said["noise"])
        with zipfile.ZipFile(self.project / "made.zip") as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual(archive.read("README.txt"), b"a line that repeats\n" * 5000)
            self.assertEqual(archive.read("data/noise.bin"), noise)
            self.assertEqual(json.loads(archive.read("data/ünïcode.json")), {"answer": 42})
            self.assertEqual(archive.read("empty"), b"")
            self.assertLess(archive.getinfo("README.txt").compress_size, 1000)
            contents = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
        contents["given/by the host.txt"] = b"hello, guest\n" * 1000
        sha256 = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        self.assertEqual(said["sums"], sha256)


if __name__ == "__main__":
    harness.main()
