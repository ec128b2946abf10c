/**
 * Which fields of the server's answers the page reads. The type checker knows: a property that is read and that was declared
 * in the types made from docs/openapi.json is one, and so is one that is read through a type of the page's own which an
 * answer was given to. The list is what the contract tests of the server hold true, so that none is forgotten.
 */
import path from 'node:path';
import ts from 'typescript';

const web = path.resolve(import.meta.dirname, '../..');
const schemaFile = path.join(web, 'src/api/schema.d.ts');
/** How deep an answer is followed into the page's own types. */
const deepest = 5;

const { fileNames, options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(path.join(web, 'tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  web,
);

/** A program of the page's files and of what they import. */
export function programOf(files: readonly string[]): ts.Program {
  return ts.createProgram(files, options);
}

/** The files that the page is made of. */
export function pageFiles(): string[] {
  const tests = /\.test\.tsx?$|\/fake\/|\/fixture\.ts$/;
  return fileNames.filter((name) => name.startsWith(path.join(web, 'src/')) && !tests.test(name));
}

/** Every field that the files read, as Schema.field, sorted. */
export function fieldsRead(files: readonly string[] = pageFiles()): string[] {
  const program = programOf(files);
  const search = new Search(program.getTypeChecker());
  for (const file of program.getSourceFiles()) {
    if (files.includes(file.fileName) && file.fileName !== schemaFile) ts.forEachChild(file, search.look);
  }
  return [...search.found].sort();
}

/** The name of the schema that declares a property, if it is one of the document's. */
function schemaOf(declaration: ts.Node): string | undefined {
  if (declaration.getSourceFile().fileName !== schemaFile) return undefined;
  const names: string[] = [];
  for (let node = declaration.parent; !ts.isSourceFile(node); node = node.parent) {
    if ((ts.isPropertySignature(node) || ts.isInterfaceDeclaration(node)) && node.name)
      names.unshift(node.name.getText());
  }
  const [top, group, ...rest] = names;
  return top === 'components' && group === 'schemas' && rest.length > 0 ? rest.join('.') : undefined;
}

/** Whether an identifier is the name of a member, as in value.member. */
function isMemberName(node: ts.Identifier): boolean {
  return ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
}

/** Whether an identifier names an element or an attribute. The checker takes it for a value and resolves the whole element. */
function isJsxName({ parent }: ts.Identifier): boolean {
  return ts.isJsxOpeningLikeElement(parent) || ts.isJsxClosingElement(parent) || ts.isJsxAttribute(parent);
}

/** Whether a node is an expression that can hand an answer over, or a function that can be handed one. */
function isGiven(node: ts.Node): node is ts.Expression {
  if (ts.isIdentifier(node)) return !isJsxName(node) && !isMemberName(node);
  return (
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node) ||
    ts.isCallExpression(node) ||
    ts.isAwaitExpression(node) ||
    ts.isArrowFunction(node)
  );
}

/**
 * Whether a node is the value of an attribute or a child of an element such as div. Its types are the browser's, and to find them takes the
 * checker most of its time.
 */
function isForElement(node: ts.Node): boolean {
  const holder = ts.isJsxExpression(node.parent) ? node.parent.parent : node.parent;
  const element = ts.isJsxAttribute(holder)
    ? holder.parent.parent
    : ts.isJsxElement(holder)
      ? holder.openingElement
      : undefined;
  return element !== undefined && ts.isIdentifier(element.tagName) && /^[a-z]/.test(element.tagName.text);
}

class Search {
  readonly found = new Set<string>();
  private readonly followed = new Map<ts.Type, Set<ts.Type>>();

  constructor(private readonly checker: ts.TypeChecker) {}

  readonly look = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) this.read(node.expression, [node.name.text]);
    else if (ts.isElementAccessExpression(node)) this.read(node.expression, this.texts(node.argumentExpression));
    else if (ts.isBindingElement(node)) this.bound(node);
    else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword)
      this.read(node.right, this.texts(node.left));
    else if (ts.isCallExpression(node)) this.called(node);
    if (isGiven(node) && !isForElement(node)) {
      const wanted = this.checker.getContextualType(node);
      if (wanted) this.follow(this.checker.getTypeAtLocation(node), wanted);
    }
    ts.forEachChild(node, this.look);
  };

  private read(object: ts.Node, names: readonly string[]): void {
    for (const type of this.parts(this.checker.getTypeAtLocation(object))) {
      for (const name of names) this.field(type, name);
    }
  }

  private bound(node: ts.BindingElement): void {
    if (!ts.isObjectBindingPattern(node.parent) || node.dotDotDotToken) return;
    const name = node.propertyName ?? node.name;
    if (ts.isIdentifier(name) || ts.isStringLiteral(name)) this.read(node.parent, [name.text]);
  }

  /** Notes a field if the document declares it, by name or as one of an open object. */
  private field(type: ts.Type, name: string): void {
    const declared = type.getProperty(name)?.declarations;
    const open = this.checker.getIndexInfoOfType(type, ts.IndexKind.String)?.declaration;
    for (const declaration of declared ?? (open ? [open] : [])) {
      const schema = schemaOf(declaration);
      if (schema !== undefined) this.found.add(`${schema}.${name}`);
    }
  }

  /** The values that an expression can have, where its type says them. */
  private texts(node: ts.Node): string[] {
    return this.parts(this.checker.getTypeAtLocation(node)).flatMap((type) =>
      type.isStringLiteral() ? [type.value] : [],
    );
  }

  /** The types that a value can be of, without null and undefined; of a type parameter what it is bound by. */
  private parts(type: ts.Type): ts.Type[] {
    const bound =
      type.flags & (ts.TypeFlags.TypeParameter | ts.TypeFlags.Index)
        ? this.checker.getBaseConstraintOfType(type)
        : type;
    const present = bound && this.checker.getNonNullableType(bound);
    if (present === undefined) return [];
    return present.isUnion() ? present.types : [present];
  }

  /** The declared parameters define what a generic function reads; its resolved ones are the answer's own type. */
  private called(call: ts.CallExpression): void {
    const parameters = this.checker.getResolvedSignature(call)?.getDeclaration()?.parameters;
    call.arguments.forEach((argument, n) => {
      const parameter = parameters?.[n];
      if (parameter) this.follow(this.checker.getTypeAtLocation(argument), this.checker.getTypeAtLocation(parameter));
    });
  }

  /** An answer is given to something that has a type of its own: what that type names is taken as read. */
  private follow(from: ts.Type, to: ts.Type, depth = 0): void {
    if (from === to || depth > deepest || this.followed.get(from)?.has(to)) return;
    this.followed.set(from, (this.followed.get(from) ?? new Set()).add(to));
    for (const source of this.parts(from)) {
      for (const target of this.parts(to)) {
        if (source === target) continue;
        this.followItems(source, target, depth);
        this.followCall(source, target, depth);
        for (const wanted of target.getProperties()) this.followField(source, wanted, depth);
      }
    }
  }

  private followItems(source: ts.Type, target: ts.Type, depth: number): void {
    if (!this.checker.isArrayLikeType(source) || !this.checker.isArrayLikeType(target)) return;
    const [item, wanted] = [source.getNumberIndexType(), target.getNumberIndexType()];
    if (item && wanted) this.follow(item, wanted, depth + 1);
  }

  /** A function that is passed gets what the parameter that it replaces would get. */
  private followCall(source: ts.Type, target: ts.Type, depth: number): void {
    const [given, wanted] = [source.getCallSignatures()[0], target.getCallSignatures()[0]];
    if (!given || !wanted) return;
    given.parameters.forEach((parameter, n) => {
      const got = wanted.parameters[n];
      if (got) this.follow(this.checker.getTypeOfSymbol(got), this.checker.getTypeOfSymbol(parameter), depth + 1);
    });
  }

  private followField(source: ts.Type, wanted: ts.Symbol, depth: number): void {
    const own = wanted.declarations?.some((declaration) => {
      const file = declaration.getSourceFile().fileName;
      return file !== schemaFile && !file.includes('/node_modules/');
    });
    if (!own) return;
    this.field(source, wanted.name);
    const given = source.getProperty(wanted.name);
    if (given) this.follow(this.checker.getTypeOfSymbol(given), this.checker.getTypeOfSymbol(wanted), depth + 1);
  }
}
