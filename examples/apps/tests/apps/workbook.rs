//! Writes small workbooks.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A cell with a text.
pub(crate) fn text(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

pub(crate) fn number(number: f64) -> String {
    format!("<c><v>{number}</v></c>")
}

/// A cell with a day, as the number of days since the end of 1899.
pub(crate) fn day(serial: u32) -> String {
    format!("<c s=\"1\"><v>{serial}</v></c>")
}

/// A cell with a time, as a fraction of a day.
pub(crate) fn time(part: f64) -> String {
    format!("<c s=\"1\"><v>{part}</v></c>")
}

/// Writes a workbook (Office Open XML, ECMA-376) of sheets with rows of cells.
pub(crate) fn write(file: &Path, sheets: &[(&str, &[&[String]])]) {
    write_with(file, sheets, None);
}

/// Writes a workbook with an additional part, which may replace a standard part.
pub(crate) fn write_with(
    file: &Path,
    sheets: &[(&str, &[&[String]])],
    other: Option<(&str, &String)>,
) {
    let mut zip = ZipWriter::new(File::create(file).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let options = options.compression_level(Some(1));
    if let Some((name, body)) = other {
        zip.start_file(name, options).unwrap();
        zip.write_all(body.as_bytes()).unwrap();
    }
    let mut part = |name: &str, body: &str| {
        if other.is_some_and(|(other, _)| other == name) {
            return;
        }
        zip.start_file(name, options).unwrap();
        let xml = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{body}");
        zip.write_all(xml.as_bytes()).unwrap();
    };
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    part(
        "_rels/.rels",
        &format!(
            "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
        ),
    );
    let mut names = Vec::new();
    let mut links = Vec::new();
    for (number, (name, rows)) in (1..).zip(sheets) {
        names.push(format!(
            "<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"r{number}\"/>"
        ));
        links.push(format!(
            "<Relationship Id=\"r{number}\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"
        ));
        let rows = rows
            .iter()
            .map(|cells| format!("<row>{}</row>", cells.concat()));
        let rows: String = rows.collect();
        part(
            &format!("xl/worksheets/sheet{number}.xml"),
            &format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>"),
        );
    }
    links.push(format!(
        "<Relationship Id=\"s\" Type=\"{office}/styles\" Target=\"styles.xml\"/>"
    ));
    let names = names.concat();
    let links = links.concat();
    part(
        "xl/workbook.xml",
        &format!(
            "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets>{names}</sheets></workbook>"
        ),
    );
    part(
        "xl/_rels/workbook.xml.rels",
        &format!("<Relationships xmlns=\"{package}\">{links}</Relationships>"),
    );
    // Format 14 is a date.
    part(
        "xl/styles.xml",
        &format!(
            "<styleSheet xmlns=\"{main}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
        ),
    );
    zip.finish().unwrap();
}
